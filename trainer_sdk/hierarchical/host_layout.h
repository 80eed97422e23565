#ifndef MUSTER_TRAINER_SDK_HIERARCHICAL_HOST_LAYOUT_H_
#define MUSTER_TRAINER_SDK_HIERARCHICAL_HOST_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

// Which ranks of a group share a host. Hosts are numbered by their lowest
// rank, and a host's ranks in the order of ranks. The same on every rank. Pure.
class HostLayout {
 public:
  // `identities` by rank; see HostIdentity.
  explicit HostLayout(const std::vector<std::string>& identities);

  int hosts() const { return static_cast<int>(members_.size()); }
  int ranks() const { return static_cast<int>(host_of_.size()); }
  int host_of(int rank) const { return host_of_[rank]; }
  // A rank's place among its host's.
  int place_of(int rank) const { return place_of_[rank]; }
  // A host's ranks.
  const std::vector<int>& members(int host) const { return members_[host]; }
  // One rank of each host: those at `place` of it, or the first where a host
  // has fewer.
  std::vector<int> Across(int place) const;

  // Every host has as many ranks.
  bool even() const { return even_; }
  // Each host's ranks follow one another, and so do the hosts.
  bool contiguous() const { return contiguous_; }

  // `counts` by rank (or `count` each) as sums by host.
  std::vector<int64_t> SumByHost(const std::vector<int64_t>& counts,
                                 int64_t count) const;
  // Those of one host's ranks.
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
