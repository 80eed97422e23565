#include "agent/failures/old_records.h"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"

namespace muster::agent {
namespace {

// The 12 in "rank_12.ring".
std::optional<int> NumberBetween(absl::string_view name,
                                 absl::string_view prefix,
                                 absl::string_view ending) {
  if (!absl::StartsWith(name, prefix) || !absl::EndsWith(name, ending) ||
      name.size() <= prefix.size() + ending.size()) {
    return std::nullopt;
  }
  name.remove_prefix(prefix.size());
  name.remove_suffix(ending.size());
  int number = 0;
  if (name.front() < '0' || name.front() > '9' ||
      !absl::SimpleAtoi(name, &number)) {
    return std::nullopt;
  }
  return number;
}

bool IsOld(const std::string& name, const rendezvous::Place& place,
           int workers) {
  for (const char* ending : {".ring", ".json"}) {
    const std::optional<int> rank = NumberBetween(name, "rank_", ending);
    if (!rank) continue;
    return *rank >= place.world_size ||
           (*rank >= place.first_rank && *rank < place.first_rank + workers);
  }
  const std::optional<int> node = NumberBetween(name, "workers.", ".json");
  return node && (*node >= place.group_world_size || *node == place.group_rank);
}

}  // namespace

void RemoveOldRecords(const std::string& folder, const rendezvous::Place& place,
                      int workers) {
  std::vector<std::string> old;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error)) {
    if (IsOld(entry->path().filename().string(), place, workers)) {
      old.push_back(entry->path().string());
    }
  }
  for (const std::string& path : old) unlink(path.c_str());
}

}  // namespace muster::agent
