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

// The position of a set of ranks that were in the same state.
struct FlightPosition {
  std::string ranks;      // "ranks 0-2, 5"
  std::string operation;  // the last operation; empty: none recorded
  std::string group;
  // "done", "in it for 12.3 s", "failed: UNAVAILABLE"; if the process's end is
  // known, also ", then died", ", then stopped", …
  std::string state;
};

// The positions of the ranks in `logs`, ordered by their first rank. Pure.
std::vector<FlightPosition> PositionsOf(
    const std::map<int, const FlightLog*>& logs,
    const std::map<int, const FlightEnd*>& ends, const FlightMoment& moment);

// Pairs of ranks ("ranks 0-2") and the reason that they gave when they failed
// or a dump was requested; each reason once. Pure.
std::vector<std::pair<std::string, std::string>> ReasonsOf(
    const std::map<int, const FlightLog*>& logs);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_POSITIONS_H_
