#ifndef MUSTER_TRAINER_SDK_TCP_TCP_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_TCP_TCP_TRANSPORT_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/network/local_address.h"
#include "trainer_sdk/network/network_transport.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

struct TcpOptions {
  LocalAddressOptions address = LocalAddressFromEnvironment();
  // The ranks that errors tell of, by rank: those in the group that this one
  // is a part of. Empty: its own.
  std::vector<int> told_as;
  // How long a wait tries, giving way to others, before it sleeps. Short
  // waits are most waits, and to be woken takes longer than they last.
  Duration spin = std::chrono::microseconds(200);
  // Of messages that come before anybody asks for them; a longer one waits at
  // its sender until somebody does.
  int64_t keep_bytes = 64 << 20;
  // How long the end of the transport waits for peers to take what was sent.
  Duration linger = std::chrono::seconds(10);
};

// Collectives between CPU hosts over TCP ("tcp"): one connection for each pair
// of ranks, the caller's thread doing all the work. Collective: every rank of
// `place`'s group calls it. Fails as ConnectRanks and LocalAddress do.
absl::StatusOr<std::unique_ptr<NetworkTransport>> NewTcpTransport(
    GroupPlace place, const TcpOptions& options, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_TCP_TRANSPORT_H_
