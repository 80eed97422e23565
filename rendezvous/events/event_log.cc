#include "rendezvous/events/event_log.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/monotonic_clock.h"
#include "base/unix_time.h"

namespace muster::rendezvous {
namespace {

constexpr double kEndOf9999 = 253402300800.0;

struct Civil {
  int year;
  unsigned month, day;
  int hour, minute, second, millisecond;
};

bool IsDate(double unix_seconds) {
  // NaN is no date: every comparison with NaN is false.
  return unix_seconds > 0 && unix_seconds < kEndOf9999;
}

Civil ToCivil(double unix_seconds) {
  namespace chrono = std::chrono;
  auto since_1970 = chrono::milliseconds(
      static_cast<int64_t>(std::floor(unix_seconds * 1000)));
  auto days = chrono::floor<chrono::days>(since_1970);
  chrono::year_month_day date{chrono::sys_days(days)};
  chrono::hh_mm_ss time{since_1970 - days};
  return {static_cast<int>(date.year()),
          static_cast<unsigned>(date.month()),
          static_cast<unsigned>(date.day()),
          static_cast<int>(time.hours().count()),
          static_cast<int>(time.minutes().count()),
          static_cast<int>(time.seconds().count()),
          static_cast<int>(time.subseconds().count())};
}

}  // namespace

namespace {

// Returns the object `json` as a line. Adds a field `name` with the JSON text
// `value`; if `value` is empty, adds no field.
std::string Line(const nlohmann::ordered_json& json, const char* name,
                 const std::string& value) {
  // Replace bytes that are not valid UTF-8, which names and reasons may
  // contain.
  std::string line =
      json.dump(-1, ' ', /*ensure_ascii=*/true,
                nlohmann::ordered_json::error_handler_t::replace);
  if (!value.empty()) {
    line.pop_back();
    line += std::string(",\"") + name + "\":" + value + "}";
  }
  return line + "\n";
}

}  // namespace

std::string UtcText(double unix_seconds) {
  if (!IsDate(unix_seconds)) return "unknown";
  Civil t = ToCivil(unix_seconds);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u %02d:%02d:%02d UTC", t.year,
                t.month, t.day, t.hour, t.minute, t.second);
  return text;
}

std::string IsoText(double unix_seconds) {
  if (!IsDate(unix_seconds)) return "unknown";
  Civil t = ToCivil(unix_seconds);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                t.year, t.month, t.day, t.hour, t.minute, t.second,
                t.millisecond);
  return text;
}

std::string DecisionJson(const std::string& run_id, const Decision& decision,
                         double unix_time) {
  using Json = nlohmann::ordered_json;
  Json json = {
      {"time", IsoText(unix_time)},
      {"run_id", run_id},
      {"round", decision.round},
      {"kind", decision.kind},
      {"node", decision.node_id.empty() ? Json() : Json(decision.node_id)},
      {"reason", decision.reason}};
  return Line(
      json, "failure",
      decision.failure.has_value() ? FailureJson(*decision.failure) : "");
}

std::string StateLine(const JobStatus& job, StateDetail detail,
                      double unix_time) {
  const nlohmann::ordered_json json = {{"time", IsoText(unix_time)},
                                       {"run_id", job.run_id},
                                       {"round", job.round},
                                       {"kind", "state"},
                                       {"node", nullptr},
                                       {"reason", job.reason}};
  return Line(json, "state", StateJson(job, detail));
}

namespace {

RotatingFile::Limits LimitsOf(EventLog::Rotation rotation, std::string root) {
  RotatingFile::Limits limits;
  limits.root = std::move(root);
  limits.gap_note = RotatingFile::GapNote::kLeftOut;
  limits.rotate_bytes =
      rotation == EventLog::Rotation::kOwn ? 16 << 20 : 256 << 20;
  limits.keep = 3;
  return limits;
}

}  // namespace

EventLog::EventLog(std::string path, Rotation rotation,
                   std::function<void(const std::string& sentence)> on_trouble,
                   std::string root)
    : queue_(on_trouble,
             {.room_bytes = kMaxWaitingBytes, .limit_bytes = kMaxWaitingBytes}),
      file_(&queue_, std::move(path), LimitsOf(rotation, std::move(root)),
            std::move(on_trouble), [this](const RotatingFile::Totals& more) {
              lost_bytes_ += more.lost;
            }) {}

EventLog::~EventLog() {
  const auto rest = throttle_.Rest();
  if (rest.has_value()) file_.Write(DecisionJson("", *rest, UnixSeconds()));
}

void EventLog::Append(const std::string& run_id, const Decision& decision) {
  EventThrottle::Result result;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    result = throttle_.Add(MonotonicNow(), decision);
  }
  if (result.omitted.has_value()) {
    file_.Write(DecisionJson("", *result.omitted, UnixSeconds()));
  }
  if (result.written) {
    file_.Write(DecisionJson(run_id, decision, UnixSeconds()));
  } else {
    ++omitted_;
  }
  queue_.Look();
}

void EventLog::AppendState(const JobStatus& job, StateDetail detail) {
  file_.Write(StateLine(job, detail, UnixSeconds()));
  queue_.Look();
}

}  // namespace muster::rendezvous
