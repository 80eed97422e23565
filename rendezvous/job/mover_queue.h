#ifndef MUSTER_RENDEZVOUS_JOB_MOVER_QUEUE_H_
#define MUSTER_RENDEZVOUS_JOB_MOVER_QUEUE_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "rendezvous/job/topology_groups.h"

namespace muster {

// The nodes that wait for a free place in a world, each to be taken once. Taken
// one after the other, each beside the one before, every group comes as a
// whole, at every level: whoever is in the same group goes before others. Pure.
class MoverQueue {
 public:
  // `groups` outlives this; `movers` are nodes of it, who comes first first.
  MoverQueue(const TopologyGroups* groups, const std::vector<size_t>& movers);

  // The mover that shares the most levels with one of these neighbours, with
  // the one on the left where both are equal; the first of those, and of all
  // where nobody shares any. There must be one.
  size_t Take(std::optional<size_t> left, std::optional<size_t> right);

 private:
  // Movers in order, of which those before `next` are taken, and others may be.
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

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_JOB_MOVER_QUEUE_H_
