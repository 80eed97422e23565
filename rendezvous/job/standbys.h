#ifndef MUSTER_RENDEZVOUS_JOB_STANDBYS_H_
#define MUSTER_RENDEZVOUS_JOB_STANDBYS_H_

#include <string>
#include <vector>

#include "rendezvous/job/membership.h"
#include "rendezvous/job/world.h"

namespace muster::rendezvous {

// The standbys: the processes that may take over from a coordinator that runs
// in the process of a node. They are the first processes of the newest world
// or, before this coordinator has a world, those of the first nodes that have
// reported to it.
struct Standbys {
  std::vector<std::string> endpoints;  // HOST:PORT (Directive::standbys)
  // The group rank of the node whose process is this coordinator
  // (Directive::host_rank); -1: none.
  int host_rank = -1;

  // Chooses the standbys of `world`. `own_endpoint`: that of this coordinator.
  // O(n log n).
  static Standbys Of(const World& world, const Membership& nodes,
                     const std::string& own_endpoint);
  // Adds the process of a node that has reported, if the process may take over
  // and the list has room. Returns whether the list has changed.
  bool Add(const Node& node, const std::string& own_endpoint);
  // Removes the process of a node that has gone.
  void Remove(const Node& gone);
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_STANDBYS_H_
