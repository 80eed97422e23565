#include "trainer_sdk/flight_recorder/flight_words.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/flight_recorder/flight_groups.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {

std::string SecondsText(double seconds) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.1f s", std::max(0.0, seconds));
  return text;
}

bool IsStuck(const FlightLog& log, const FlightRecord& record) {
  return record.in_progress() ||
         (record.ended != 0 && record.status != absl::StatusCode::kOk &&
          !WasMadeAgain(log, record.group, record.ended));
}

const FlightRecord* StuckRecord(const FlightLog& log) {
  // The first one is what the later ones are queued behind or failed by.
  for (const FlightRecord& record : log.records) {
    if (IsStuck(log, record)) return &record;
  }
  return nullptr;
}

std::string GroupName(const FlightLog& log, const FlightRecord& record) {
  return FlightGroupLabel(log, record.group);
}

std::string RankName(const FlightLog& log) {
  return absl::StrCat("rank ", log.rank, " (", log.host, ", pid ", log.pid,
                      ")");
}

std::string LastDone(const FlightLog& log, double now) {
  if (log.records.empty()) return "it called nothing at all";
  const FlightRecord& last = log.records.back();
  return absl::StrCat(
      "its last was ", Describe(last.signature), " in group ",
      GroupName(log, last),
      last.ended == 0 ? ", which had not begun"
                      : absl::StrCat(", done ", SecondsText(now - last.ended),
                                     " before the end"));
}

}  // namespace muster
