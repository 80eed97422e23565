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
  // The key with which all connections of the group are encrypted; equal on all
  // ranks. Empty: no encryption. The default is the key of `launch
  // --encrypt=workers`.
  absl::StatusOr<std::string> channel_key = InheritedChannelKey();
  // The rank numbers to show in error messages, indexed by rank in this group.
  // For a part of a larger group, these are the ranks in the larger group.
  // Empty: error messages show the ranks in this group.
  std::vector<int> ranks_in_errors;
  // The longest time for which a waiting thread polls before it sleeps. The
  // thread may yield its core between polls. Most waits are shorter than the
  // time that a wake-up takes, so polling is faster than sleeping at once.
  Duration spin = std::chrono::microseconds(200);
  // Limit in bytes for the messages from all peers together that arrive before
  // their receive is posted. A message beyond the limit stays at its sender
  // until its receive is posted. If this rank meanwhile waits for data that the
  // same sender sends after such a message, the operation fails with
  // FailedPrecondition.
  int64_t keep_bytes = 64 << 20;
  // The longest time for which the destructor waits until peers have
  // acknowledged all sent data.
  Duration linger = std::chrono::seconds(10);
};

// Makes the transport "tcp", for collectives between CPU hosts over TCP. The
// transport has one connection per pair of ranks, and the calling thread does
// all the work. Collective: every rank of `place`'s group calls this function.
// Errors are those of ConnectRanks, LocalAddress and InheritedChannelKey.
absl::StatusOr<std::unique_ptr<NetworkTransport>> NewTcpTransport(
    GroupPlace place, const TcpOptions& options, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_TCP_TRANSPORT_H_
