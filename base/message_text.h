#ifndef MUSTER_BASE_MESSAGE_TEXT_H_
#define MUSTER_BASE_MESSAGE_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace muster {

// Formats a count with its noun, in the plural unless `count` is 1: "1 node",
// "2 nodes".
inline std::string Counted(int64_t count, std::string_view noun) {
  std::string text = std::to_string(count);
  text.append(" ").append(noun);
  return count == 1 ? text : text + "s";
}

// Formats a duration for people: "0.0135 s", "4.99 s", "600 s". Three
// significant digits; whole seconds above 100.
std::string SecondsText(Duration length);

// Formats ascending `ranks` for messages, with at most eight ranges: "rank 3",
// "ranks 1, 4-7 and 10 more ranks". Pure.
std::string RankRanges(const std::vector<int>& ranks);

}  // namespace muster

#endif  // MUSTER_BASE_MESSAGE_TEXT_H_
