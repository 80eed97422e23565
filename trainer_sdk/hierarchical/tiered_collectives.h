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

// The transports of one rank, called tiers: within its host, across hosts, and
// among all ranks.
struct Tiers {
  HostLayout layout;
  int rank = 0;
  std::vector<PeerName> names;  // names of all ranks, indexed by rank

  // The transport among the ranks of this host; null if the host has only one
  // rank.
  std::unique_ptr<Transport> local;
  // sequence number of the last collective of the transport `local`
  uint64_t local_sequence = 0;
  // The transport to other hosts. It connects one rank of each host, ordered by
  // host. If all hosts have the same number of ranks, the connected ranks have
  // the same index on their hosts as this rank. Otherwise the connected ranks
  // are the first ranks of the hosts, and `lane` is null on all other ranks.
  std::unique_ptr<NetworkTransport> lane;
  // The transport among all ranks.
  std::unique_ptr<NetworkTransport> flat;
  Scratch scratch;
  // Whether the last operation failed in the transport `local`.
  bool failed_on_host = false;
  // Whether all ranks of this host had called the operation and compared their
  // calls before the last failure.
  bool compared = false;

  int host() const { return layout.host_of(rank); }
  int place() const { return layout.place_of(rank); }
  int locals() const { return static_cast<int>(layout.members(host()).size()); }
  // Whether this rank is the first rank of its host, which uses the network on
  // behalf of the host.
  bool leads() const { return place() == 0; }
};

// Converts `message`, the error of a step in the host's own group, so that it
// has the rank numbers of the whole group. `late` is the text for a rank that
// has not reached the step, such as "has not called it".
std::string ToldByHost(const Tiers& tiers, const std::string& late,
                       const std::string& message);

// Performs `operation` with as little network traffic as possible. The ranks of
// a host combine their data in shared memory. Then one rank of each host
// exchanges the data over the network, or each rank exchanges a part of the
// data. The result is distributed in shared memory. Operations that gain
// nothing from these steps go directly from rank to rank. The result is
// bit-identical on every rank.
//
// First, the ranks of a host compare the operations that they called, because
// the later steps would not show a mismatch. Hosts compare their operations
// when they exchange data.
absl::Status RunOverTiers(const Operation& operation,
                          const OperationSignature& signature, Instant deadline,
                          Tiers& tiers);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_TIERED_COLLECTIVES_H_
