#include "agent/health/interface_list.h"

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"

namespace muster::agent {

InterfaceList ParseInterfaceList(const std::string& text) {
  InterfaceList list;
  std::string rest = text;
  if (absl::StartsWith(rest, "^")) {
    list.all_but = true;
    rest.erase(0, 1);
  }
  if (absl::StartsWith(rest, "=")) {
    list.exact = true;
    rest.erase(0, 1);
  }
  for (const auto word : absl::StrSplit(rest, ',', absl::SkipEmpty())) {
    const std::string name(word);
    list.names.push_back(name.substr(0, name.find(':')));
  }
  return list;
}

std::vector<std::string> Chosen(const InterfaceList& list,
                                const std::vector<std::string>& present) {
  if (list.names.empty()) return present;
  std::vector<std::string> chosen;
  for (const std::string& one : present) {
    bool fits = false;
    for (const std::string& name : list.names) {
      fits = fits || (list.exact ? one == name : absl::StartsWith(one, name));
    }
    if (fits != list.all_but) chosen.push_back(one);
  }
  return chosen;
}

}  // namespace muster::agent
