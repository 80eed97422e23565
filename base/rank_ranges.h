#ifndef MUSTER_BASE_RANK_RANGES_H_
#define MUSTER_BASE_RANK_RANGES_H_

#include <string>
#include <vector>

namespace muster {

// "rank 3", "ranks 1, 4-7 and 10 more ranks": ascending `ranks` in words, at
// most eight ranges of them. Pure.
std::string RankRanges(const std::vector<int>& ranks);

}  // namespace muster

#endif  // MUSTER_BASE_RANK_RANGES_H_
