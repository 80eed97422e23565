#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ANALYSIS_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ANALYSIS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_ends.h"
#include "trainer_sdk/flight_recorder/flight_log.h"
#include "trainer_sdk/flight_recorder/flight_positions.h"

namespace muster {

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
  // Of a job that runs, and in which nobody is to blame: how long the longest
  // wait has been, in seconds; 0: nobody waits.
  double longest_wait = 0;
};

// Compares `logs` and `ends`, at most one of each rank. `clock`: MomentOf's;
// with one, only who has waited for longer than a second counts as waiting,
// until something has failed. In this order:
//  - ranks that ended by themselves, by what their agents saw, and not because
//    an operation had failed; nothing is then said of ranks that were stopped
//    for it, but that they were;
//  - ranks that called different things under one number: who and what;
//  - ranks that others wait for and that are in no operation themselves, or in
//    one that needs every rank and that others have done;
//  - ranks that were silent for too long, if the above names them or nobody;
//  - ranks without a log; ranks that ended without a word when others failed
//    (where it is not known how);
//  - else, of operations that did not end, that the ranks wait for each other,
//    or that all called the same and it failed.
// Pure.
FlightAnalysis AnalyseFlight(const std::vector<FlightLog>& logs,
                             const std::vector<FlightEnd>& ends = {},
                             std::optional<double> clock = std::nullopt);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ANALYSIS_H_
