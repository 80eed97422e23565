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
  // The ranks named in errors, by rank: those in the larger group that this
  // group is a part of. Empty: this group's own ranks.
  std::vector<int> told_as;
  // How long a wait polls, yielding to other threads, before it sleeps. Most
  // waits are shorter than the time that a wake-up takes.
  Duration spin = std::chrono::microseconds(200);
  // Bound in bytes for messages that arrive before they are received. A longer
  // message waits at its sender until the receive is posted.
  int64_t keep_bytes = 64 << 20;
  // The longest time that the destructor waits for peers to receive what was
  // sent.
  Duration linger = std::chrono::seconds(10);
};

// Makes a transport for collectives between CPU hosts over TCP ("tcp"). It has
// one connection per pair of ranks, and the caller's thread does all the work.
// Collective: every rank of `place`'s group calls it. Errors are those of
// ConnectRanks and LocalAddress.
absl::StatusOr<std::unique_ptr<NetworkTransport>> NewTcpTransport(
    GroupPlace place, const TcpOptions& options, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_TCP_TRANSPORT_H_
