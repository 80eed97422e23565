#ifndef MUSTER_RENDEZVOUS_JOB_TOPOLOGY_GROUPS_H_
#define MUSTER_RENDEZVOUS_JOB_TOPOLOGY_GROUPS_H_

#include <cstddef>
#include <string>
#include <vector>

namespace muster::rendezvous {

// The groups of nodes by their topology keys, outermost level first. At each
// level, nodes whose keys are equal down to that level form a group. A node
// without a key at a level belongs to no group of that level. Pure.
class TopologyGroups {
 public:
  // `keys[i]` are the keys of node i.
  explicit TopologyGroups(const std::vector<std::vector<std::string>>& keys);

  size_t nodes() const { return groups_.size(); }
  // The number of topology keys of `node`.
  size_t DepthOf(size_t node) const { return groups_[node].size(); }
  // The group of `node` at `level`, which must be less than its depth. Group
  // numbers are unique over all levels.
  size_t GroupOf(size_t node, size_t level) const {
    return groups_[node][level];
  }
  size_t groups() const { return group_count_; }

 private:
  std::vector<std::vector<size_t>> groups_;
  size_t group_count_ = 0;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_TOPOLOGY_GROUPS_H_
