#include "rendezvous/events/event_log.h"

#include <chrono>
#include <utility>

#include "rendezvous/events/decision_json.h"

namespace muster::rendezvous {
namespace {

RotatingFile::Limits LimitsOf(EventLog::Rotation rotation) {
  RotatingFile::Limits limits;
  limits.gap_note = RotatingFile::GapNote::kLeftOut;
  if (rotation == EventLog::Rotation::kOwn) {
    limits.rotate_bytes = 16 << 20;
    limits.keep = 3;
  }
  return limits;
}

double UnixTime() {
  auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since_1970).count();
}

}  // namespace

EventLog::EventLog(std::string path, Rotation rotation,
                   std::function<void(const std::string& sentence)> on_trouble)
    : file_(std::move(path), LimitsOf(rotation), std::move(on_trouble)) {}

void EventLog::Append(const std::string& run_id, const Decision& decision) {
  file_.Write(DecisionJson(run_id, decision, UnixTime()));
}

}  // namespace muster::rendezvous
