#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_GROUPS_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_GROUPS_H_

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_log.h"

namespace muster {

// Which groups in the logs of several ranks are one. Pure.

// Names are used again: by a group that is made after one of its name broke,
// and by parts that are split off twice with one label.
struct FlightGroupKey {
  std::string name;
  std::vector<int> members;
  uint64_t birth = 0;
  int nth = 1;  // of those in one log that are alike in all of the above

  // Clang 14's tidy takes the comparison with 0 for one with a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const FlightGroupKey&,
                          const FlightGroupKey&) = default;
};

// Of log.groups, one for each.
std::vector<FlightGroupKey> KeysOf(const FlightLog& log);

// Whether a group of the name of log.groups[group], or one that it is a part
// of, was made at `since` or later: it is nobody's concern any more how that
// one ended.
bool WasMadeAgain(const FlightLog& log, int group, double since);

// "world"; "world (no. 2)" for the second of that name and members in the log.
std::string FlightGroupLabel(const FlightLog& log, int group);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_GROUPS_H_
