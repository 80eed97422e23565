#ifndef MUSTER_RENDEZVOUS_DAEMON_DECISION_LOG_H_
#define MUSTER_RENDEZVOUS_DAEMON_DECISION_LOG_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "rendezvous/protocol/job_status.h"

namespace muster {

// The daemon's event log: one JSON object a line, appended. Thread-safe.
class DecisionLog {
 public:
  // `warn` is told, once, when a line could not be written; serving goes on.
  // The status says why `path` cannot be opened.
  static absl::StatusOr<std::unique_ptr<DecisionLog>> Open(
      const std::string& path, std::function<void(const std::string&)> warn);
  ~DecisionLog();

  DecisionLog(const DecisionLog&) = delete;
  DecisionLog& operator=(const DecisionLog&) = delete;

  void Append(const std::string& run_id, const Decision& decision);

  // Opens the path anew, after somebody has renamed the file. Keeps the old
  // one if that fails.
  absl::Status Reopen();

 private:
  DecisionLog(std::string path, std::function<void(const std::string&)> warn);

  const std::string path_;
  const std::function<void(const std::string&)> warn_;
  std::mutex mutex_;
  int fd_ = -1;
  bool warned_ = false;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_DAEMON_DECISION_LOG_H_
