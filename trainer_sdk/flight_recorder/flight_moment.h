#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_MOMENT_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_MOMENT_H_

#include <optional>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_ends.h"
#include "trainer_sdk/flight_recorder/flight_log.h"

namespace muster {

// The moment for which logs are judged. Times are in seconds; `now` is since
// 1970 (UTC).
struct FlightMoment {
  double now = 0;
  // Whether ranks still run; if not, `now` is the time of their last record.
  bool running = false;
  // A rank that has been in an operation for less than this is assumed to make
  // progress, not to wait.
  double patience = 0;
};

// `clock`: the time before the first of `logs` was read, if a process still
// writes them. Without it, or if agents have seen workers end, the moment is
// the latest time in the logs. Patience is nonzero only if nothing in the job
// has failed. Pure.
FlightMoment MomentOf(const std::vector<FlightLog>& logs,
                      const std::vector<FlightEnd>& ends,
                      std::optional<double> clock);

// Whether patience is nonzero and `time` is less than that ago.
bool IsFresh(double time, const FlightMoment& moment);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_MOMENT_H_
