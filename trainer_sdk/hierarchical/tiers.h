#ifndef MUSTER_TRAINER_SDK_HIERARCHICAL_TIERS_H_
#define MUSTER_TRAINER_SDK_HIERARCHICAL_TIERS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer_sdk/hierarchical/host_layout.h"
#include "trainer_sdk/network/network_transport.h"
#include "trainer_sdk/network/peer_name.h"
#include "trainer_sdk/network/scratch.h"
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

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_TIERS_H_
