#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_MOMENT_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_MOMENT_H_

#include <optional>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_ends.h"
#include "trainer_sdk/flight_recorder/flight_log.h"

namespace muster {

// When logs are looked at. Seconds; `now` since 1970.
struct FlightMoment {
  double now = 0;
  // Whether ranks still run; else `now` is the last sign of them.
  bool running = false;
  // Who has been in an operation for less is on its way: it waits for nobody.
  double patience = 0;
};

// `clock`, the time before the first of `logs` was read, where a process still
// writes them; without one, and once agents have seen workers end, the last
// thing known. Patience is for jobs in which nothing has failed. Pure.
FlightMoment MomentOf(const std::vector<FlightLog>& logs,
                      const std::vector<FlightEnd>& ends,
                      std::optional<double> clock);

// Whether `time` is less than the patience ago, of which there is some.
bool IsFresh(double time, const FlightMoment& moment);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_FLIGHT_MOMENT_H_
