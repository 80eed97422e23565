#include "agent/report/event_log.h"

#include <chrono>
#include <utility>

#include "agent/logs/log_paths.h"
#include "agent/report/decision_line.h"

namespace muster {
namespace {

constexpr RotatingFile::Limits kLimits = {.rotate_bytes = 16 << 20, .keep = 3};

double UnixTime() {
  auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since_1970).count();
}

}  // namespace

EventLog::EventLog(std::string path,
                   std::function<void(const std::string& sentence)> on_trouble)
    : file_(std::move(path), kLimits, std::move(on_trouble)) {
  file_.Open();
}

void EventLog::Append(const std::string& run_id, const Decision& decision) {
  file_.Write(DecisionJson(run_id, decision, UnixTime()));
}

std::string EventLogPath(const std::string& log_dir,
                         const std::string& run_id) {
  return RunFolder(log_dir, run_id) + "/events.jsonl";
}

}  // namespace muster
