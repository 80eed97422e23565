#include "trainer_sdk/flight_recorder/flight_moment.h"

#include <algorithm>

namespace muster {
namespace {

// Seconds. Ranks of a healthy job wait for each other too, for milliseconds.
constexpr double kPatience = 1;

}  // namespace

FlightMoment MomentOf(const std::vector<FlightLog>& logs,
                      const std::vector<FlightEnd>& ends,
                      std::optional<double> clock) {
  FlightMoment moment;
  bool failed = false;
  for (const FlightLog& log : logs) {
    moment.now = std::max(moment.now, log.written);
    if (!log.reason.empty()) failed = true;
  }
  for (const FlightEnd& end : ends) {
    moment.now = std::max(moment.now, end.time);
  }
  if (!clock || !ends.empty()) return moment;
  // The clock was read before the logs, so a later record only means that the
  // rank continued while others were being read.
  moment.now = *clock;
  moment.running = true;
  if (!failed) moment.patience = kPatience;
  return moment;
}

bool IsFresh(double time, const FlightMoment& moment) {
  return moment.patience > 0 && moment.now - time < moment.patience;
}

}  // namespace muster
