#include "agent/guardian/environment_merge.h"

#include <map>
#include <set>

namespace muster::agent {
namespace {

std::string_view NameOf(std::string_view entry) {
  return entry.substr(0, entry.find('='));
}

}  // namespace

std::vector<std::string> MergeEnvironment(
    const std::vector<std::string>& inherited,
    const std::vector<std::pair<std::string, std::string>>& set,
    const std::vector<std::string>& unset) {
  std::set<std::string_view> dropped(unset.begin(), unset.end());
  std::map<std::string_view, size_t> last_of;
  for (size_t i = 0; i < set.size(); ++i) {
    last_of[set[i].first] = i;
    dropped.insert(set[i].first);
  }
  std::vector<std::string> merged;
  merged.reserve(inherited.size() + last_of.size());
  for (const std::string& entry : inherited) {
    if (dropped.count(NameOf(entry)) == 0) merged.push_back(entry);
  }
  for (size_t i = 0; i < set.size(); ++i) {
    const auto& [name, value] = set[i];
    if (last_of[name] != i) continue;
    merged.push_back(name);
    merged.back().append(1, '=').append(value);
  }
  return merged;
}

const char* FindInEnvironment(const std::vector<std::string>& environment,
                              std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry[name.size()] == '=' &&
        NameOf(entry) == name) {
      return entry.c_str() + name.size() + 1;
    }
  }
  return nullptr;
}

}  // namespace muster::agent
