#include "trainer_sdk/flight_recorder/flight_moment.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/flight_recorder/flight_log.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {
namespace {

// The longest time in seconds that a rank of a healthy job may spend in one
// operation (FlightMoment::timeout). Healthy ranks usually wait for each other
// for milliseconds.
constexpr double kMaxHealthySeconds = 1;

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
  // The caller read `clock` before it read the logs. Judge the state at that
  // time: a later time in a log only shows that its rank still worked while the
  // other logs were being read.
  moment.now = *clock;
  moment.running = true;
  if (!failed) moment.timeout = kMaxHealthySeconds;
  return moment;
}

bool IsFresh(double time, const FlightMoment& moment) {
  return moment.timeout > 0 && moment.now - time < moment.timeout;
}

std::string SecondsText(double seconds) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.1f s", std::max(0.0, seconds));
  return text;
}

bool IsStuck(const FlightLog& log, const FlightRecord& record,
             const FlightMoment& moment) {
  return (record.in_progress() && !IsFresh(record.started, moment)) ||
         (record.ended != 0 && record.status != absl::StatusCode::kOk &&
          !WasMadeAgain(log, record.group, record.ended));
}

const FlightRecord* StuckRecord(const FlightLog& log,
                                const FlightMoment& moment) {
  // The first stuck operation is returned, because a stuck operation delays all
  // later ones or makes them fail.
  for (const FlightRecord& record : log.records) {
    if (IsStuck(log, record, moment)) return &record;
  }
  return nullptr;
}

std::string GroupName(const FlightLog& log, const FlightRecord& record) {
  return FlightGroupLabel(log, record.group);
}

std::string RankName(const FlightLog& log) {
  if (log.host.empty()) return absl::StrCat("rank ", log.rank);
  return absl::StrCat("rank ", log.rank, " (", log.host, ", pid ", log.pid,
                      ")");
}

std::string LastDone(const FlightLog& log, const FlightMoment& moment) {
  if (log.records.empty()) return "it called nothing at all";
  const FlightRecord& last = log.records.back();
  std::string state = ", which had not begun";
  if (last.in_progress()) {
    state =
        absl::StrCat(", in it for ", SecondsText(moment.now - last.started));
  } else if (last.ended != 0) {
    state = absl::StrCat(", done ", SecondsText(moment.now - last.ended),
                         moment.running ? " ago" : " before the end");
  }
  return absl::StrCat("its last was ", Describe(last.signature), " in group ",
                      GroupName(log, last), state);
}

}  // namespace muster
