#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ANALYSIS_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ANALYSIS_H_

#include <string>
#include <utility>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_log.h"

namespace muster {

// Where ranks stood that stood alike.
struct FlightPosition {
  std::string ranks;      // "ranks 0-2, 5"
  std::string operation;  // the last one; empty: none recorded
  std::string group;
  std::string state;  // "done", "in it for 12.3 s", "failed: UNAVAILABLE"
};

// What the logs of a job's ranks tell together.
struct FlightAnalysis {
  int world_size = 0;
  int groups = 0;
  // Who is to blame and why, one sentence each, the surest first; empty where
  // the ranks agree and nobody waits.
  std::vector<std::string> findings;
  // Who ("ranks 0-2") said what on failing; each reason once.
  std::vector<std::pair<std::string, std::string>> reasons;
  std::vector<FlightPosition> positions;
};

// Compares `logs`, at most one of each rank. In this order:
//  - ranks that called different things under one number: who and what;
//  - ranks that others wait for and that are in no operation themselves;
//  - ranks without a log; ranks that ended without a word when others failed;
//  - else, of operations that did not end, that the ranks wait for each other,
//    or that all called the same and it failed.
// Pure.
FlightAnalysis AnalyseFlight(const std::vector<FlightLog>& logs);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ANALYSIS_H_
