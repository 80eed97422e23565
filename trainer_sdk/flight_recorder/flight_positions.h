#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_POSITIONS_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_POSITIONS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_ends.h"
#include "trainer_sdk/flight_recorder/flight_log.h"
#include "trainer_sdk/flight_recorder/flight_moment.h"

namespace muster {

// Where ranks stood that stood alike.
struct FlightPosition {
  std::string ranks;      // "ranks 0-2, 5"
  std::string operation;  // the last one; empty: none recorded
  std::string group;
  // "done", "in it for 12.3 s", "failed: UNAVAILABLE"; where its end is known
  // also ", then died", ", then stopped", …
  std::string state;
};

// Of the ranks in `logs`, in the order of the first of each. Pure.
std::vector<FlightPosition> PositionsOf(
    const std::map<int, const FlightLog*>& logs,
    const std::map<int, const FlightEnd*>& ends, const FlightMoment& moment);

// Who ("ranks 0-2") said what on failing, or when a dump was asked for; each
// reason once. Pure.
std::vector<std::pair<std::string, std::string>> ReasonsOf(
    const std::map<int, const FlightLog*>& logs);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_POSITIONS_H_
