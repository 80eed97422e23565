#ifndef MUSTER_BASE_RANK_RANGES_H_
#define MUSTER_BASE_RANK_RANGES_H_

#include <string>
#include <vector>

namespace muster {

// Formats ascending `ranks` for messages, with at most eight ranges: "rank 3",
// "ranks 1, 4-7 and 10 more ranks". Pure.
std::string RankRanges(const std::vector<int>& ranks);

}  // namespace muster

#endif  // MUSTER_BASE_RANK_RANGES_H_
