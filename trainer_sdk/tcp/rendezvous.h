#ifndef MUSTER_TRAINER_SDK_TCP_RENDEZVOUS_H_
#define MUSTER_TRAINER_SDK_TCP_RENDEZVOUS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "trainer_sdk/network/peer_name.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// A group's ranks, each connected to each.
struct ConnectedRanks {
  std::vector<PeerName> names;   // by rank
  std::vector<OwnedFd> sockets;  // by rank; none for this one
};

// Listens at `address` on a port of the kernel's choice, tells the others
// through the group's store, and connects: a rank dials those below it.
// Whoever connects without the group's secret, which is in the store, is
// turned away.
//
//   DeadlineExceeded  ranks that did not come, or cannot be reached, by name
//   Unavailable       the store, or a rank that refuses or has died meanwhile
absl::StatusOr<ConnectedRanks> ConnectRanks(const GroupPlace& place,
                                            const std::string& address,
                                            Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_RENDEZVOUS_H_
