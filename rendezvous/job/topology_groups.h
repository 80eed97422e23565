#ifndef MUSTER_RENDEZVOUS_JOB_TOPOLOGY_GROUPS_H_
#define MUSTER_RENDEZVOUS_JOB_TOPOLOGY_GROUPS_H_

#include <cstddef>
#include <string>
#include <vector>

namespace muster {

// The groups that nodes form by their topology keys: at each level, outermost
// first, those whose keys down to that level are equal. A node without a key at
// a level is in no group there. Pure.
class TopologyGroups {
 public:
  // The keys of each node.
  explicit TopologyGroups(const std::vector<std::vector<std::string>>& keys);

  size_t nodes() const { return groups_.size(); }
  // How many keys a node has.
  size_t DepthOf(size_t node) const { return groups_[node].size(); }
  // The group of a node at a level below its depth; each group's number is its
  // own among all levels.
  size_t GroupOf(size_t node, size_t level) const {
    return groups_[node][level];
  }
  size_t groups() const { return group_count_; }

 private:
  std::vector<std::vector<size_t>> groups_;
  size_t group_count_ = 0;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_JOB_TOPOLOGY_GROUPS_H_
