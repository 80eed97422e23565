#include "rendezvous/job/topology_groups.h"

#include <algorithm>
#include <map>
#include <utility>

namespace muster {

TopologyGroups::TopologyGroups(
    const std::vector<std::vector<std::string>>& keys) {
  constexpr size_t kNoGroup = static_cast<size_t>(-1);
  // By the group outside and the key: equal keys in different groups are
  // different switches.
  std::map<std::pair<size_t, std::string>, size_t> numbers;
  for (const std::vector<std::string>& node : keys) {
    std::vector<size_t>& own = groups_.emplace_back();
    size_t outer = kNoGroup;
    for (const std::string& key : node) {
      outer = numbers.try_emplace({outer, key}, numbers.size()).first->second;
      own.push_back(outer);
    }
  }
  group_count_ = numbers.size();
}

size_t TopologyGroups::Shared(size_t a, size_t b) const {
  const std::vector<size_t>& x = groups_[a];
  const std::vector<size_t>& y = groups_[b];
  const size_t most = std::min(x.size(), y.size());
  size_t shared = 0;
  while (shared < most && x[shared] == y[shared]) ++shared;
  return shared;
}

std::vector<size_t> NeighboursTogether(const TopologyGroups& groups,
                                       const std::vector<size_t>& order) {
  std::vector<size_t> place(groups.nodes());  // of each node, in `order`
  std::vector<size_t> first(groups.groups(), order.size());  // of each group
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t node = order[i];
    place[node] = i;
    for (size_t level = 0; level < groups.DepthOf(node); ++level) {
      size_t& least = first[groups.GroupOf(node, level)];
      least = std::min(least, i);
    }
  }
  // Where a node's part begins, of the group that it shares with another down
  // to `level`. Two nodes have different parts there, which begin elsewhere.
  const auto part = [&](size_t node, size_t level) {
    return level < groups.DepthOf(node) ? first[groups.GroupOf(node, level)]
                                        : place[node];
  };
  std::vector<size_t> together = order;
  std::sort(together.begin(), together.end(), [&](size_t a, size_t b) {
    if (a == b) return false;
    const size_t level = groups.Shared(a, b);
    return part(a, level) < part(b, level);
  });
  return together;
}

}  // namespace muster
