#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ANALYSIS_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ANALYSIS_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_log.h"
#include "trainer_sdk/flight_recorder/flight_moment.h"

namespace muster {

// The position of a set of ranks that were in the same state.
struct FlightPosition {
  std::string ranks;      // these ranks as text: "ranks 0-2, 5"
  std::string operation;  // the last operation; empty: none recorded
  std::string group;
  // Examples: "done", "in it for 12.3 s", "failed: UNAVAILABLE"; if the
  // process's end is known, also ", then died", ", then stopped", …
  std::string state;
};

// The positions of the ranks of `logs`, ordered by their first rank. Pure.
std::vector<FlightPosition> PositionsOf(
    const std::map<int, const FlightLog*>& logs,
    const std::map<int, const FlightEnd*>& ends, const FlightMoment& moment);

// Pairs of ranks ("ranks 0-2") and the reason in their logs for a failure or a
// dump; each reason occurs once. Pure.
std::vector<std::pair<std::string, std::string>> ReasonsOf(
    const std::map<int, const FlightLog*>& logs);

// The result of comparing the logs of a job's ranks.
struct FlightAnalysis {
  int world_size = 0;
  int groups = 0;
  // One sentence for each group of ranks to blame, with the reason; the most
  // certain first. Empty if the ranks agree and none waits.
  std::vector<std::string> findings;
  // Pairs of ranks ("ranks 0-2") and the reason in their logs for a failure or
  // a dump; each reason occurs once.
  std::vector<std::pair<std::string, std::string>> reasons;
  std::vector<FlightPosition> positions;
  // "ranks 0, 2-3": the ranks that their agents stopped because of other ranks;
  // empty if there are none.
  std::string stopped;
  // The longest wait in seconds in a running job without a rank to blame; 0: no
  // rank waits.
  double longest_wait = 0;
};

// Compares `logs` and `ends`, at most one of each per rank. `clock`: see
// MomentOf. If `clock` is set and nothing has failed, a rank counts as waiting
// only after one second. Findings, in this order:
//  - ranks that ended by themselves, as seen by their agents, and not because
//    an operation had failed; ranks that were stopped in consequence are
//    listed only as stopped;
//  - ranks that called different operations under one sequence number;
//  - ranks that others wait for and that are in no operation, or in one that
//    needs every rank and that others have finished;
//  - ranks that were silent for too long, if the findings above name them or
//    name no rank;
//  - ranks without a log, and ranks that ended for an unknown reason while
//    others failed;
//  - otherwise, for operations that did not end: the ranks wait for each
//    other, or all called the same operation and it failed.
// Pure.
FlightAnalysis AnalyseFlight(const std::vector<FlightLog>& logs,
                             const std::vector<FlightEnd>& ends = {},
                             std::optional<double> clock = std::nullopt);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ANALYSIS_H_
