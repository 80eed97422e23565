#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_GROUPS_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_GROUPS_H_

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_log.h"

namespace muster {

// Matches groups across the logs of several ranks. Pure.

// Identifies a group. The name alone is not enough: a group that broke is made
// again under its name, and two splits may use one label.
struct FlightGroupKey {
  std::string name;
  std::vector<int> members;
  uint64_t birth = 0;
  int nth = 1;  // counts groups in one log that are equal in all of the above

  // Clang 14's tidy takes the comparison with 0 for one with a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const FlightGroupKey&,
                          const FlightGroupKey&) = default;
};

// The keys of log.groups, in the same order.
std::vector<FlightGroupKey> KeysOf(const FlightLog& log);

// Whether the group log.groups[group], or a group that it was split from, was
// made again at `since` or later, so that its end does not matter any more.
bool WasMadeAgain(const FlightLog& log, int group, double since);

// "world"; "world (no. 2)" for the second group with that name and members in
// the log.
std::string FlightGroupLabel(const FlightLog& log, int group);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_GROUPS_H_
