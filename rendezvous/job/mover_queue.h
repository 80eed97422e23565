#ifndef MUSTER_RENDEZVOUS_JOB_MOVER_QUEUE_H_
#define MUSTER_RENDEZVOUS_JOB_MOVER_QUEUE_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "rendezvous/job/topology_groups.h"

namespace muster::rendezvous {

// The nodes that need a free rank, each taken once. If ranks are filled one
// after another and each Take names the neighbours, the nodes of one topology
// group get adjacent ranks, at every level. Pure.
class MoverQueue {
 public:
  // `groups` must outlive this object. `movers` are indices of nodes in
  // `groups`, in order of preference.
  MoverQueue(const TopologyGroups* groups, const std::vector<size_t>& movers);

  // Removes and returns the mover that shares the most topology levels with one
  // of the two neighbours; on a tie `left` wins. Among equal movers, and if
  // none shares a level, returns the first in order of preference. Requires
  // that a mover is left.
  size_t Take(std::optional<size_t> left, std::optional<size_t> right);

 private:
  // Movers in order of preference. All before index `next` are taken; later
  // ones may be taken too.
  struct Line {
    std::vector<size_t> movers;
    size_t next = 0;
  };
  struct Found {
    size_t shared = 0;
    size_t mover = 0;
  };
  std::optional<size_t> First(Line& line) const;
  std::optional<Found> Near(std::optional<size_t> neighbour);

  const TopologyGroups* const groups_;
  Line all_;
  std::vector<Line> of_group_;
  std::vector<char> taken_;  // by node
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_MOVER_QUEUE_H_
