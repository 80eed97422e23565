#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_MOMENT_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_MOMENT_H_

#include <optional>
#include <string>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_log.h"

namespace muster {

// The time at which the state of the ranks is judged, from their logs. Times
// are in seconds; `now` is since 1970 (UTC).
struct FlightMoment {
  double now = 0;
  // Whether ranks are still running. If not, `now` is the latest time in their
  // logs and in the agents' reports.
  bool running = false;
  // A time limit in seconds. A rank that has been in an operation for less than
  // this time is assumed to make progress.
  double timeout = 0;
};

// Returns the moment for judging `logs`. `ends`: the agents' reports of
// processes that have ended. `clock`: if a process still writes the logs, the
// time just before the first of them was read; else nullopt.
//
// The ranks may still run if `clock` is set and `ends` is empty. Then the
// result's `now` is `clock`, and its `timeout` is one second, or 0 if a log
// contains the reason for a failure. Else `now` is the latest time in `logs`
// and `ends`, and `timeout` is 0. Pure.
FlightMoment MomentOf(const std::vector<FlightLog>& logs,
                      const std::vector<FlightEnd>& ends,
                      std::optional<double> clock);

// Whether `time`, at which a rank did something, is so recent that the rank is
// assumed to make progress: less than moment.timeout seconds before moment.now.
// Always false if moment.timeout is 0.
bool IsFresh(double time, const FlightMoment& moment);

// Formats a duration for messages: "12.3 s". Pure.
std::string SecondsText(double seconds);

// Returns the rank's first operation that is stuck or has failed (see IsStuck);
// null if there is none.
const FlightRecord* StuckRecord(const FlightLog& log,
                                const FlightMoment& moment);

// Whether a rank is stuck in the operation of `record`: it has been in the
// operation for at least moment.timeout seconds, or the operation failed and
// the rank has not created the process group again since.
bool IsStuck(const FlightLog& log, const FlightRecord& record,
             const FlightMoment& moment);

// Returns the label (FlightGroupLabel) of the group to which the operation of
// `record` belongs.
std::string GroupName(const FlightLog& log, const FlightRecord& record);

// Names the rank and its process for messages: "rank 2 (node1, pid 77)", or
// "rank 2" if the log does not contain the host.
std::string RankName(const FlightLog& log);

// Describes the rank's last operation: "its last was barrier #2 in group world,
// done 9.8 s before the end". If ranks are still running, the text ends with
// "9.8 s ago".
std::string LastDone(const FlightLog& log, const FlightMoment& moment);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_MOMENT_H_
