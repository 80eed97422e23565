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

// The ranks that have the same last operation in the same state, and a
// description of the operation and of the state.
struct FlightPosition {
  std::string ranks;      // the ranks as text: "ranks 0-2, 5"
  std::string operation;  // the ranks' last operation; empty: none was recorded
  std::string group;
  // The state of `operation`: "done", "in it for 12.3 s", "failed:
  // UNAVAILABLE". If an agent has reported how the ranks' processes ended, the
  // text ends with this, such as ", then died" or ", then stopped".
  std::string state;
};

// Describes each rank's last operation and the state of this operation. Ranks
// with the same operation in the same state share one entry. Entries are
// ordered by their lowest rank. Pure.
std::vector<FlightPosition> PositionsOf(
    const std::map<int, const FlightLog*>& logs,
    const std::map<int, const FlightEnd*>& ends, const FlightMoment& moment);

// Lists the reasons that the logs give for a failure or a dump. Each pair
// consists of the ranks that give the reason, as text ("ranks 0-2"), and of the
// reason. Pure.
std::vector<std::pair<std::string, std::string>> ReasonsOf(
    const std::map<int, const FlightLog*>& logs);

// The result of comparing the flight recorder logs of a job's ranks.
struct FlightAnalysis {
  int world_size = 0;
  int groups = 0;
  // One sentence for each rank or set of ranks to blame, with the reason; the
  // most certain first. Empty if no rank is stuck and the ranks called the same
  // operations.
  std::vector<std::string> findings;
  // The result of ReasonsOf: the ranks ("ranks 0-2"), and the reason that their
  // logs give for a failure or a dump.
  std::vector<std::pair<std::string, std::string>> reasons;
  std::vector<FlightPosition> positions;
  // The ranks that their agents stopped because the process of another rank had
  // ended, as text: "ranks 0, 2-3". Empty if there are none.
  std::string stopped;
  // The longest current wait of a rank, in seconds, if the job still runs and
  // no rank is to blame. 0: no rank waits.
  double longest_wait = 0;
};

// Finds the ranks that caused a failure or a delay. `logs` and `ends` have at
// most one entry per rank. `clock`: the time just before the logs were read, in
// seconds since 1970 (UTC); nullopt if no process writes the logs any more. If
// `clock` is set and nothing has failed, a rank counts as waiting only after
// one second. Findings are given in this order:
//  - ranks whose processes ended by themselves, as their agents report, except
//    processes that exited after a failed operation; ranks that agents stopped
//    because of these ends are listed in FlightAnalysis::stopped instead;
//  - ranks that called different operations under one sequence number;
//  - idle ranks for which other ranks wait, and ranks that are still in a
//    collective that needs every rank and that other ranks have finished;
//  - ranks that their agents killed for being silent for too long: all such
//    ranks or, if there are findings above, only ranks that a finding names;
//  - ranks without a log, and ranks that ended for an unknown reason while
//    others failed;
//  - if no rank is to blame so far, the operations that did not end: ranks wait
//    for each other, or all called the same operation and it failed.
// Pure.
FlightAnalysis AnalyseFlight(const std::vector<FlightLog>& logs,
                             const std::vector<FlightEnd>& ends = {},
                             std::optional<double> clock = std::nullopt);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_ANALYSIS_H_
