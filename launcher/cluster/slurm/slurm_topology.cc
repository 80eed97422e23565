#include "launcher/cluster/slurm/slurm_topology.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"

namespace muster::launcher {
namespace {

constexpr size_t kMaxLevels = 16;
constexpr size_t kLongest = 4096;

// Splits `text` at dots outside of brackets; "s[0.1]" is one piece.
std::vector<std::string> SplitAtDots(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == '.' && depth <= 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

std::string TopologyLabels(const std::string& address,
                           const std::string& pattern) {
  if (address.size() > kLongest) return "";
  std::vector<std::string> names = SplitAtDots(address);
  const std::vector<std::string> kinds = SplitAtDots(pattern);
  // A node's name may contain dots, so only the names before it are matched
  // with the pattern.
  const auto node = std::find(kinds.begin(), kinds.end(), "node");
  const auto levels = static_cast<size_t>(node - kinds.begin());
  if (node == kinds.end() || levels > kMaxLevels || levels >= names.size()) {
    return "";
  }
  std::string labels;
  for (size_t level = 0; level < levels; ++level) {
    // A node on several switches has a name such as "s[1,4]". A comma would end
    // the label.
    std::replace(names[level].begin(), names[level].end(), ',', '+');
    if (names[level].empty()) continue;
    absl::StrAppend(&labels, labels.empty() ? "" : ",", kinds[level], level + 1,
                    "=", names[level]);
  }
  return labels;
}

}  // namespace muster::launcher
