#include "base/message_text.h"

#include <cmath>
#include <cstddef>
#include <cstdio>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

constexpr int kShownRanges = 8;

}  // namespace

std::string SecondsText(Duration length) {
  const double seconds = ToSeconds(length);
  char text[64];
  std::snprintf(text, sizeof(text),
                std::fabs(seconds) < 100 ? "%.3g s" : "%.0f s", seconds);
  return text;
}

std::string RankRanges(const std::vector<int>& ranks) {
  if (ranks.empty()) return "no rank";
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  size_t next = 0;
  for (int shown = 0; shown < kShownRanges && next < ranks.size(); ++shown) {
    size_t last = next;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) {
      ++last;
    }
    absl::StrAppend(&text, shown == 0 ? "" : ", ", ranks[next]);
    if (last > next) absl::StrAppend(&text, "-", ranks[last]);
    next = last + 1;
  }
  if (next < ranks.size()) {
    const size_t more = ranks.size() - next;
    absl::StrAppend(&text, " and ", more, more == 1 ? " more" : " more ranks");
  }
  return text;
}

}  // namespace muster
