#ifndef MUSTER_TRAINER_SDK_HIERARCHICAL_HOST_LAYOUT_H_
#define MUSTER_TRAINER_SDK_HIERARCHICAL_HOST_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

// Which ranks of a group share a host. Hosts are numbered in the order of their
// lowest ranks. Equal on every rank. Pure.
class HostLayout {
 public:
  // `identities`: the hosts' identities, indexed by rank; see HostIdentity.
  explicit HostLayout(const std::vector<std::string>& identities);

  int hosts() const { return static_cast<int>(members_.size()); }
  int ranks() const { return static_cast<int>(host_of_.size()); }
  int host_of(int rank) const { return host_of_[rank]; }
  // A rank's index among the ranks of its host.
  int place_of(int rank) const { return place_of_[rank]; }
  // The ranks of a host, ascending.
  const std::vector<int>& members(int host) const { return members_[host]; }
  // One rank of each host: the one at index `place`, or the first if the host
  // has fewer.
  std::vector<int> Across(int place) const;

  // Whether all hosts have the same number of ranks.
  bool even() const { return even_; }
  // Whether each host has consecutive ranks, in the order of hosts.
  bool contiguous() const { return contiguous_; }

  // The sums of the ranks' counts on each host, indexed by host. `counts` is
  // indexed by rank; if it is empty, each rank has `count`.
  std::vector<int64_t> SumByHost(const std::vector<int64_t>& counts,
                                 int64_t count) const;
  // The counts of one host's ranks.
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
