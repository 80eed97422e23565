#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ANALYSIS_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ANALYSIS_H_

#include <string>
#include <utility>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_ends.h"
#include "trainer_sdk/flight_recorder/flight_log.h"

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

// What the logs of a job's ranks tell together.
struct FlightAnalysis {
  int world_size = 0;
  int groups = 0;
  // Who is to blame and why, one sentence each, the surest first; empty where
  // the ranks agree and nobody waits.
  std::vector<std::string> findings;
  // Who ("ranks 0-2") said what on failing, or when a dump was asked for; each
  // reason once.
  std::vector<std::pair<std::string, std::string>> reasons;
  std::vector<FlightPosition> positions;
  // "ranks 0, 2-3": whom their agents stopped, for what had happened to others.
  // Empty: nobody, as far as is known.
  std::string stopped;
};

// Compares `logs` and `ends`, at most one of each rank. In this order:
//  - ranks that ended by themselves, by what their agents saw, and not because
//    an operation had failed; nothing is then said of ranks that were stopped
//    for it, but that they were;
//  - ranks that called different things under one number: who and what;
//  - ranks that others wait for and that are in no operation themselves;
//  - ranks without a log; ranks that ended without a word when others failed
//    (where it is not known how);
//  - else, of operations that did not end, that the ranks wait for each other,
//    or that all called the same and it failed.
// Pure.
FlightAnalysis AnalyseFlight(const std::vector<FlightLog>& logs,
                             const std::vector<FlightEnd>& ends = {});

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ANALYSIS_H_
