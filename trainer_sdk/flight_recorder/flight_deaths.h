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

// Who ended by itself, as the agents saw it, and who only after that.
struct FlightDeaths {
  // "rank 1 (node1, pid 77) died in all_reduce #3 of … in group world: killed
  // by SIGKILL (9)": one for each that ended for a reason of its own, the
  // earliest first; at most eight and one for the rest.
  std::vector<std::string> sentences;
  std::set<int> dead;
  // Who was silent for too long, with its sentence, the earliest first. That
  // is weak: who waits for a rank that is behind is silent as well.
  std::vector<std::pair<int, std::string>> hung;
  // Ranks that their agents stopped, once others were dead.
  std::vector<int> stopped;
  // Those of them of whom it says nothing that they had not come to where the
  // others waited. None where nobody died but only hung: whoever that one
  // waited for may be among them.
  std::set<int> excused;
};

// A process that ended after one of its operations had failed is no cause: it
// said so itself. Pure.
FlightDeaths FindDeaths(const std::map<int, const FlightLog*>& logs,
                        const std::map<int, const FlightEnd*>& ends,
                        const FlightMoment& moment);

// "died", "exited", "hung", "not started", "stopped".
const char* InAWord(HowEnded how);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_DEATHS_H_
