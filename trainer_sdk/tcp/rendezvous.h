#ifndef MUSTER_TRAINER_SDK_TCP_RENDEZVOUS_H_
#define MUSTER_TRAINER_SDK_TCP_RENDEZVOUS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/net/tls_stream.h"
#include "base/time.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// The names of all ranks of a group, and a connection to each.
struct ConnectedRanks {
  std::vector<PeerName> names;  // names of the ranks, indexed by rank
  // connected sockets, indexed by rank; not open for this rank
  std::vector<StreamSocket> sockets;
};

// Connects this rank to all others. The rank listens at `address` on a port
// chosen by the kernel, and publishes the port in the group's store. The rank
// connects to all lower ranks, and accepts connections of the higher ranks.
// Rejects connections whose greeting does not contain the group's secret, which
// is in the store. With `tls`, connections are encrypted, and rejected if the
// peer does not have the key. Blocking.
//
//   DeadlineExceeded  some ranks did not arrive or cannot be reached; the
//                     message names them
//   Unavailable       the store failed, or a rank refuses connections or has
//                     died
//   PermissionDenied  the process at a rank's address does not have the key
absl::StatusOr<ConnectedRanks> ConnectRanks(const GroupPlace& place,
                                            const std::string& address,
                                            std::optional<TlsContext> tls,
                                            Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_RENDEZVOUS_H_
