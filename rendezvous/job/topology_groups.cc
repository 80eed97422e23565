#include "rendezvous/job/topology_groups.h"

#include <map>
#include <utility>

namespace muster::rendezvous {

TopologyGroups::TopologyGroups(
    const std::vector<std::vector<std::string>>& keys) {
  constexpr size_t kNoGroup = static_cast<size_t>(-1);
  // Group numbers by outer group and key: equal keys in different outer groups
  // are different switches.
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

}  // namespace muster::rendezvous
