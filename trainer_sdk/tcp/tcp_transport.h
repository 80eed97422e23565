#ifndef MUSTER_TRAINER_SDK_TCP_TCP_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_TCP_TCP_TRANSPORT_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/network/inherited_key.h"
#include "trainer_sdk/network/local_address.h"
#include "trainer_sdk/network/network_transport.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

struct TcpOptions {
  LocalAddressOptions address = LocalAddressFromEnvironment();
  // Key with which all connections of the group are encrypted; the same on all
  // ranks. Empty: clear text. The default is the key of --encrypt=workers.
  absl::StatusOr<std::string> channel_key = InheritedChannelKey();
  // The numbers used for the ranks in errors, indexed by rank: their ranks in
  // the larger group that this group is a part of. Empty: the ranks of this
  // group.
  std::vector<int> ranks_in_errors;
  // The longest time for which a wait polls, yielding to other threads, before
  // it sleeps. Most waits are shorter than the time that a wake-up takes.
  Duration spin = std::chrono::microseconds(200);
  // Bound in bytes for messages that arrive before their receive is posted. A
  // longer message stays at its sender until the receive is posted.
  int64_t keep_bytes = 64 << 20;
  // The longest time for which the destructor waits until peers have received
  // all sent data.
  Duration linger = std::chrono::seconds(10);
};

// Makes a transport for collectives between CPU hosts over TCP ("tcp"). It has
// one connection per pair of ranks, and the caller's thread does all the work.
// Collective: every rank of `place`'s group calls it. Errors are those of
// ConnectRanks, LocalAddress and InheritedChannelKey.
absl::StatusOr<std::unique_ptr<NetworkTransport>> NewTcpTransport(
    GroupPlace place, const TcpOptions& options, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_TCP_TRANSPORT_H_
