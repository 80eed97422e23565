#include "base/nearest_name.h"

#include <algorithm>
#include <cstddef>

namespace muster {
namespace {

// If a name is longer than this, no similar name is suggested. The limit bounds
// the time, which is quadratic in the length.
constexpr size_t kLongestName = 64;

// The minimum number of letters to insert, remove, replace or swap that turns
// `a` into `b` (optimal string alignment distance).
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1),
      row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string NearestName(const std::string& name,
                        const std::vector<std::string>& candidates) {
  if (name.empty() || name.size() > kLongestName) return "";
  std::string nearest;
  size_t least = std::max<size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = Distance(name, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  if (!nearest.empty()) return nearest;
  for (const std::string& candidate : candidates) {
    if (name.size() >= 3 && candidate.compare(0, name.size(), name) == 0) {
      return candidate;
    }
  }
  return "";
}

}  // namespace muster
