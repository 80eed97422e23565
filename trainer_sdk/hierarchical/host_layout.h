#ifndef MUSTER_TRAINER_SDK_HIERARCHICAL_HOST_LAYOUT_H_
#define MUSTER_TRAINER_SDK_HIERARCHICAL_HOST_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

// The hosts of a group's ranks. Hosts are numbered in the order of their lowest
// ranks. The layout is equal on every rank. Pure.
class HostLayout {
 public:
  // `identities`: each rank's host identity (see HostIdentity), indexed by
  // rank.
  explicit HostLayout(const std::vector<std::string>& identities);

  int hosts() const { return static_cast<int>(members_.size()); }
  int ranks() const { return static_cast<int>(host_of_.size()); }
  int host_of(int rank) const { return host_of_[rank]; }
  // The index of `rank` among the ranks of its host, from 0.
  int place_of(int rank) const { return place_of_[rank]; }
  // The ranks of `host`, ascending.
  const std::vector<int>& members(int host) const { return members_[host]; }
  // Returns one rank of each host, in the order of hosts. It is the rank with
  // index `place` on its host, or the host's first rank if the host has fewer
  // ranks.
  std::vector<int> Across(int place) const;

  // Whether all hosts have the same number of ranks.
  bool even() const { return even_; }
  // Whether the ranks of each host are consecutive, with hosts in ascending
  // order.
  bool contiguous() const { return contiguous_; }

  // Returns for each host the sum of the element counts of its ranks. `counts`
  // is indexed by rank; if it is empty, each rank has `count` elements.
  std::vector<int64_t> SumByHost(const std::vector<int64_t>& counts,
                                 int64_t count) const;
  // Returns the element counts of the ranks of `host`. `counts` is indexed by
  // rank; if it is empty, each rank has `count` elements.
  std::vector<int64_t> CountsOf(int host, const std::vector<int64_t>& counts,
                                int64_t count) const;

 private:
  std::vector<int> host_of_, place_of_;
  std::vector<std::vector<int>> members_;
  bool even_ = true;
  bool contiguous_ = true;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_HIERARCHICAL_HOST_LAYOUT_H_
