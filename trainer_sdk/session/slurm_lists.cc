#include "trainer_sdk/session/slurm_lists.h"

#include <cctype>
#include <cstddef>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace muster {

std::optional<std::string> FirstHost(const std::string& list) {
  std::string host;
  size_t at = 0;
  while (at < list.size() && list[at] != ',') {
    if (list[at] != '[') {
      const unsigned char c = list[at++];
      if (!std::isalnum(c) && c != '-' && c != '.' && c != '_' && c != ':') {
        return std::nullopt;
      }
      host.push_back(static_cast<char>(c));
      continue;
    }
    // A list of ranges in brackets begins here, such as "[007-011,20]". Copy
    // its first number (007), with its leading zeros, to the host's name.
    const size_t end = list.find(']', at);
    if (end == std::string::npos) return std::nullopt;
    const size_t stop = list.find_first_of(",-]", at + 1);
    if (stop == at + 1) return std::nullopt;
    for (size_t i = at + 1; i < stop; ++i) {
      if (!std::isdigit(static_cast<unsigned char>(list[i]))) {
        return std::nullopt;
      }
      host.push_back(list[i]);
    }
    at = end + 1;
  }
  if (host.empty()) return std::nullopt;
  return host;
}

std::optional<int> TasksOnNode(const std::string& tasks_per_node, int node) {
  int64_t first = 0;  // index of the first node that `entry` describes
  const std::vector<std::string> entries = absl::StrSplit(tasks_per_node, ',');
  for (const std::string& entry : entries) {
    const std::vector<std::string> parts = absl::StrSplit(entry, "(x");
    int tasks = 0, nodes = 1;
    if (parts.size() > 2 || !absl::SimpleAtoi(parts[0], &tasks)) {
      return std::nullopt;
    }
    if (parts.size() == 2) {
      if (parts[1].empty() || parts[1].back() != ')' ||
          !absl::SimpleAtoi(parts[1].substr(0, parts[1].size() - 1), &nodes)) {
        return std::nullopt;
      }
    }
    if (tasks < 1 || nodes < 1) return std::nullopt;
    first += nodes;
    if (node < first) return tasks;
  }
  return std::nullopt;
}

}  // namespace muster
