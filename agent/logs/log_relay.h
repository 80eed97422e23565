#ifndef MUSTER_AGENT_LOGS_LOG_RELAY_H_
#define MUSTER_AGENT_LOGS_LOG_RELAY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/logs/log_plan.h"
#include "agent/logs/log_router.h"

namespace muster {

// Carries workers' output from their pipes to files and to the console.
//
// Files: <directory>/<run_id>/attempt_<n>/<global rank>/{stdout,stderr}.log,
// byte for byte what the worker wrote, rotated by size. Console: whole lines
// (a line is never interleaved with another), each with its prefix
// "[node:rank] "; lines over 64 KiB are cut into pieces that say so. A console
// that does not take what comes never blocks a worker: beyond a bounded queue
// lines are dropped from the console, never from the files, and counted in one
// line once it takes again.
//
// A file that cannot be written never harms a worker: it is told on the console
// once, and what is missing is counted.
//
// Thread-safe. Owns one thread for the pipes, started with the first worker,
// and one for each console, started with its first line.
class LogRelay {
 public:
  explicit LogRelay(LogPlan plan, ConsoleFds console = {});
  ~LogRelay();

  // Whether the log folder can be written, before anything is started.
  // Creates it. PermissionDenied, ResourceExhausted (full) or Internal with
  // path and errno text.
  absl::Status CheckWritable();

  // The write ends of a new worker's pipes, for WorkerSpec; the caller closes
  // them once the worker has been started. ResourceExhausted: no descriptor is
  // left.
  struct Pipes {
    int stdout_fd = -1;
    int stderr_fd = -1;
  };
  using Worker = LoggedWorker;
  absl::StatusOr<Pipes> Open(const Worker& worker);

  // The directory of a worker's files, for TORCHELASTIC_ERROR_FILE; empty if
  // the plan writes none. It exists once the worker's output has been opened.
  std::string DirectoryOf(int attempt, int rank) const;

  // The last lines of a worker's stderr, without escape sequences and control
  // characters, oldest first. Drains the pipe of what it holds, so after a
  // worker's end nothing that it wrote is missing.
  std::vector<std::string> StderrTail(int local_rank);

  // Returns when everything that ended workers wrote has reached the files and
  // (waited for at most a second) the console. Descendants of a worker that
  // still hold its pipe do not matter.
  void Flush();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster

#endif  // MUSTER_AGENT_LOGS_LOG_RELAY_H_
