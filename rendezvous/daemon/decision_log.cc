#include "rendezvous/daemon/decision_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

// 2024-05-01T12:00:00.123Z
std::string UtcNow() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts = {};
  gmtime_r(&now.tv_sec, &parts);
  char day[32];
  std::strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &parts);
  char text[48];
  std::snprintf(text, sizeof(text), "%s.%03ldZ", day, now.tv_nsec / 1'000'000);
  return text;
}

std::string Line(const std::string& run_id, const Decision& decision) {
  using Json = nlohmann::ordered_json;
  const Json json = {
      {"time", UtcNow()},
      {"run_id", run_id},
      {"round", decision.round},
      {"kind", decision.kind},
      {"node", decision.node_id.empty() ? Json() : Json(decision.node_id)},
      {"reason", decision.reason}};
  // Names and reasons may hold bytes that are not UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

DecisionLog::DecisionLog(std::string path,
                         std::function<void(const std::string&)> warn)
    : path_(std::move(path)), warn_(std::move(warn)) {}

DecisionLog::~DecisionLog() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<std::unique_ptr<DecisionLog>> DecisionLog::Open(
    const std::string& path, std::function<void(const std::string&)> warn) {
  std::unique_ptr<DecisionLog> log(new DecisionLog(path, std::move(warn)));
  const absl::Status opened = log->Reopen();
  if (!opened.ok()) return opened;
  return log;
}

absl::Status DecisionLog::Reopen() {
  const int fd =
      open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot open the event log ", path_, ": ", std::strerror(errno)));
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
  return absl::OkStatus();
}

void DecisionLog::Append(const std::string& run_id, const Decision& decision) {
  const std::string line = Line(run_id, decision);
  std::lock_guard<std::mutex> lock(mutex_);
  // One write: lines of several daemons on one file do not mix.
  const ssize_t written = write(fd_, line.data(), line.size());
  if (written == static_cast<ssize_t>(line.size())) {
    warned_ = false;
  } else if (!std::exchange(warned_, true)) {
    warn_(absl::StrCat("cannot write the event log ", path_, ": ",
                       written < 0 ? std::strerror(errno) : "disk full?"));
  }
}

}  // namespace muster
