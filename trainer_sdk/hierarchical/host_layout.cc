#include "trainer_sdk/hierarchical/host_layout.h"

#include <map>
#include <numeric>

namespace muster {

HostLayout::HostLayout(const std::vector<std::string>& identities) {
  std::map<std::string, int> numbers;
  for (int rank = 0; rank < static_cast<int>(identities.size()); ++rank) {
    const auto [known, is_new] =
        numbers.emplace(identities[rank], static_cast<int>(members_.size()));
    if (is_new) members_.emplace_back();
    const int host = known->second;
    if (!is_new && members_[host].back() != rank - 1) contiguous_ = false;
    host_of_.push_back(host);
    place_of_.push_back(static_cast<int>(members_[host].size()));
    members_[host].push_back(rank);
  }
  for (const std::vector<int>& members : members_) {
    if (members.size() != members_.front().size()) even_ = false;
  }
}

std::vector<int> HostLayout::Across(int place) const {
  std::vector<int> ranks;
  for (const std::vector<int>& members : members_) {
    const bool has = place < static_cast<int>(members.size());
    ranks.push_back(members[has ? place : 0]);
  }
  return ranks;
}

std::vector<int64_t> HostLayout::SumByHost(const std::vector<int64_t>& counts,
                                           int64_t count) const {
  std::vector<int64_t> sums;
  for (int host = 0; host < hosts(); ++host) {
    const std::vector<int64_t> own = CountsOf(host, counts, count);
    sums.push_back(std::accumulate(own.begin(), own.end(), int64_t{0}));
  }
  return sums;
}

std::vector<int64_t> HostLayout::CountsOf(int host,
                                          const std::vector<int64_t>& counts,
                                          int64_t count) const {
  std::vector<int64_t> own;
  for (const int rank : members_[host]) {
    own.push_back(counts.empty() ? count : counts[rank]);
  }
  return own;
}

}  // namespace muster
