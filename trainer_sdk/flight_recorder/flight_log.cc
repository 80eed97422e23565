#include "trainer_sdk/flight_recorder/flight_log.h"

#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace muster {

std::vector<FlightGroupKey> KeysOf(const FlightLog& log) {
  std::vector<FlightGroupKey> keys;
  std::map<FlightGroupKey, int> alike;
  for (const FlightGroup& group : log.groups) {
    FlightGroupKey key = {group.name, group.members, group.birth};
    key.nth = ++alike[key];
    keys.push_back(std::move(key));
  }
  return keys;
}

bool WasMadeAgain(const FlightLog& log, int group, double since) {
  const std::string& name = log.groups[group].name;
  for (size_t i = static_cast<size_t>(group) + 1; i < log.groups.size(); i++) {
    const FlightGroup& later = log.groups[i];
    if (later.made >= since &&
        (later.name == name ||
         absl::StartsWith(name, absl::StrCat(later.name, "/")))) {
      return true;
    }
  }
  return false;
}

std::string FlightGroupLabel(const FlightLog& log, int group) {
  const FlightGroup& named = log.groups[group];
  int number = 1;
  for (int i = 0; i < group; i++) {
    if (log.groups[i].name == named.name &&
        log.groups[i].members == named.members) {
      number++;
    }
  }
  return number == 1 ? named.name
                     : absl::StrCat(named.name, " (no. ", number, ")");
}

}  // namespace muster
