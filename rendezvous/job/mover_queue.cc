#include "rendezvous/job/mover_queue.h"

namespace muster::rendezvous {

MoverQueue::MoverQueue(const TopologyGroups* groups,
                       const std::vector<size_t>& movers)
    : groups_(groups), of_group_(groups->groups()), taken_(groups->nodes()) {
  all_.movers = movers;
  for (const size_t mover : movers) {
    for (size_t level = 0; level < groups->DepthOf(mover); ++level) {
      of_group_[groups->GroupOf(mover, level)].movers.push_back(mover);
    }
  }
}

std::optional<size_t> MoverQueue::First(Line& line) const {
  while (line.next < line.movers.size() && taken_[line.movers[line.next]]) {
    ++line.next;
  }
  if (line.next == line.movers.size()) return std::nullopt;
  return line.movers[line.next];
}

std::optional<MoverQueue::Found> MoverQueue::Near(
    std::optional<size_t> neighbour) {
  if (!neighbour) return std::nullopt;
  for (size_t shared = groups_->DepthOf(*neighbour); shared > 0; --shared) {
    const std::optional<size_t> mover =
        First(of_group_[groups_->GroupOf(*neighbour, shared - 1)]);
    if (mover) return Found{shared, *mover};
  }
  return std::nullopt;
}

size_t MoverQueue::Take(std::optional<size_t> left,
                        std::optional<size_t> right) {
  std::optional<Found> best = Near(left);
  const std::optional<Found> other = Near(right);
  if (other && (!best || other->shared > best->shared)) best = other;
  const size_t mover = best ? best->mover : First(all_).value();
  taken_[mover] = 1;
  return mover;
}

}  // namespace muster::rendezvous
