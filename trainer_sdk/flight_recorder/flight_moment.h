#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_MOMENT_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_MOMENT_H_

#include <optional>
#include <string>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_log.h"

namespace muster {

// The time at which logs are judged. Times are in seconds; `now` is since 1970
// (UTC).
struct FlightMoment {
  double now = 0;
  // Whether ranks still run; if not, `now` is the time of their last record.
  bool running = false;
  // A rank that has been in an operation for less than `timeout` is assumed to
  // make progress, not to wait.
  double timeout = 0;
};

// `clock`: the time before the first of `logs` was read, if a process still
// writes them. Without `clock`, or if agents have seen workers end, the moment
// is the latest time in the logs. `timeout` is nonzero only if nothing in the
// job has failed. Pure.
FlightMoment MomentOf(const std::vector<FlightLog>& logs,
                      const std::vector<FlightEnd>& ends,
                      std::optional<double> clock);

// Whether `timeout` is nonzero and `time` is less than `timeout` before now.
bool IsFresh(double time, const FlightMoment& moment);

// Texts for messages about a rank's log. Pure.

// Formats a duration: "12.3 s".
std::string SecondsText(double seconds);

// The operation in which a rank was, or had failed, when it was last seen;
// null: none.
const FlightRecord* StuckRecord(const FlightLog& log,
                                const FlightMoment& moment);

// Whether a rank has been waiting in `record` for longer than the moment's
// timeout, or its wait failed and the rank has not created the process group
// again since.
bool IsStuck(const FlightLog& log, const FlightRecord& record,
             const FlightMoment& moment);

// FlightGroupLabel of the group of `record`.
std::string GroupName(const FlightLog& log, const FlightRecord& record);

// Describes the rank and its process: "rank 2 (node1, pid 77)".
std::string RankName(const FlightLog& log);

// "its last was barrier #2 in group world, done 9.8 s before the end"; "… 9.8 s
// ago" if ranks still run.
std::string LastDone(const FlightLog& log, const FlightMoment& moment);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_MOMENT_H_
