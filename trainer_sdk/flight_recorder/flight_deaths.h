#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_DEATHS_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_DEATHS_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_ends.h"
#include "trainer_sdk/flight_recorder/flight_log.h"
#include "trainer_sdk/flight_recorder/flight_moment.h"

namespace muster {

// Ranks that died by themselves, as seen by the agents, and ranks that ended in
// consequence.
struct FlightDeaths {
  // "rank 1 (node1, pid 77) died in all_reduce #3 of … in group world: killed
  // by SIGKILL (9)". One sentence for each rank that ended by itself, the
  // earliest first; at most eight, and one for the rest.
  std::vector<std::string> sentences;
  std::set<int> dead;
  // Ranks that were silent for too long, with a sentence, the earliest first.
  // Weak evidence: a rank that waits for a late rank is silent as well.
  std::vector<std::pair<int, std::string>> hung;
  // Ranks that their agents stopped after others had died.
  std::vector<int> stopped;
  // Those stopped ranks for which it is no evidence that they did not reach an
  // operation in which others waited. Empty if ranks only hung and none died:
  // the hung rank may have waited for one of the stopped ranks.
  std::set<int> excused;
};

// Finds the ranks that died. A process that ended after one of its operations
// had failed is not a cause, because it reported that failure. Pure.
FlightDeaths FindDeaths(const std::map<int, const FlightLog*>& logs,
                        const std::map<int, const FlightEnd*>& ends,
                        const FlightMoment& moment);

// The kind as one word: "died", "exited", "hung", "not started", "stopped".
const char* InAWord(HowEnded how);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_DEATHS_H_
