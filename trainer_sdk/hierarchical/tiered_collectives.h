#ifndef MUSTER_TRAINER_SDK_HIERARCHICAL_TIERED_COLLECTIVES_H_
#define MUSTER_TRAINER_SDK_HIERARCHICAL_TIERED_COLLECTIVES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/hierarchical/host_layout.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/network/network_transport.h"
#include "trainer_sdk/network/primitives.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/signature.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// The transports that a rank uses.
struct Tiers {
  HostLayout layout;
  int rank = 0;
  std::vector<PeerName> names;  // by rank

  // Transport among the ranks of this host; null if there is only one.
  std::unique_ptr<Transport> local;
  uint64_t local_sequence = 0;  // number of its last collective
  // Transport among one rank of each host, ordered by host. If all hosts have
  // the same number of ranks, these are the ranks with this rank's position on
  // their host; else each host's first rank. Null for a rank in no such group.
  std::unique_ptr<NetworkTransport> lane;
  // Transport among all ranks.
  std::unique_ptr<NetworkTransport> flat;
  Scratch scratch;
  // Whether the last operation failed among the ranks of this host.
  bool failed_on_host = false;
  // Whether that was after all of them had called it.
  bool compared = false;

  int host() const { return layout.host_of(rank); }
  int place() const { return layout.place_of(rank); }
  int locals() const { return static_cast<int>(layout.members(host()).size()); }
  // Whether this rank is the host's first, which speaks for it.
  bool leads() const { return place() == 0; }
};

// Converts `message`, an error of a step in the host's own group, to the ranks
// of the whole group. `late`: text for a rank that has not reached the step.
std::string ToldByHost(const Tiers& tiers, const std::string& late,
                       const std::string& message);

// Performs `operation` with as little network traffic as possible. The ranks of
// a host combine their data in shared memory, one of them (or each with a part)
// exchanges it over the network, and the result returns the same way.
// Operations that do not benefit go from rank to rank. The result is
// bit-identical on every rank.
//
// First the ranks of a host compare their calls, because the steps that follow
// do not show them; hosts compare theirs along with the data.
absl::Status RunOverTiers(const Operation& operation,
                          const OperationSignature& signature, Instant deadline,
                          Tiers& tiers);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_TIERED_COLLECTIVES_H_
