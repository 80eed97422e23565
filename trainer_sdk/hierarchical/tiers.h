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

// What a rank reaches others through.
struct Tiers {
  HostLayout layout;
  int rank = 0;
  std::vector<PeerName> names;  // by rank

  // The ranks of this host; null where it has one only.
  std::unique_ptr<Transport> local;
  uint64_t local_sequence = 0;  // of its last collective
  // One rank of each host, ranked by host: those at this rank's place of
  // their host where all hosts have as many, else each host's first. Null for
  // a rank that is in none.
  std::unique_ptr<NetworkTransport> lane;
  // Everybody.
  std::unique_ptr<NetworkTransport> flat;
  Scratch scratch;
  // The last operation failed among the ranks of this host.
  bool failed_on_host = false;
  // It did after they all had called it.
  bool compared = false;

  int host() const { return layout.host_of(rank); }
  int place() const { return layout.place_of(rank); }
  int locals() const { return static_cast<int>(layout.members(host()).size()); }
  // The host's first rank speaks for it.
  bool leads() const { return place() == 0; }
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_TIERS_H_
