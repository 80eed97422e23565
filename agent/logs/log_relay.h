#ifndef MUSTER_AGENT_LOGS_LOG_RELAY_H_
#define MUSTER_AGENT_LOGS_LOG_RELAY_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/logs/console.h"
#include "agent/logs/log_account.h"
#include "agent/logs/log_plan.h"
#include "agent/logs/log_router.h"
#include "base/owned_fd.h"

namespace muster::agent {

// Carries workers' output from their pipes to files and to the console.
//
// Files: <directory>/<run name>/attempt_<n>/<global rank>/{stdout,stderr}.log,
// byte for byte what the worker wrote, rotated by size as LogPlan says.
// Console: lines, each
// with its prefix "[node:rank] ", never two mixed; lines over 64 KiB are cut
// into pieces that say so, and a line that does not end is shown after a moment
// as far as it is (see WorkerStream).
//
// A slow console slows the workers as a pipe does: while its queue is full, the
// pipes of the streams that it shows are not read. Nothing else waits for it.
// The files' copy follows the same reading.
//
// The only worker of a node finds a terminal where the console is one: what it
// writes goes there as it is, without lines and prefixes
// (LogRouter::PassageOf).
//
// A file that cannot be written never harms a worker: it is told on the console
// once, and what is missing is counted.
//
// Thread-safe. Owns one thread for the pipes, started with the first worker.
class LogRelay {
 public:
  // `account`: where the missing bytes of the files are summed up; complete
  // once the relay has ended. May be null.
  explicit LogRelay(LogPlan plan, std::shared_ptr<Console> console = nullptr,
                    std::shared_ptr<LogAccount> account = nullptr);
  ~LogRelay();

  // Whether the log folder can be written, before anything is started.
  // Creates it. PermissionDenied, ResourceExhausted (full) or Internal with
  // path and errno text.
  absl::Status CheckWritable();

  // A round begins, of the run with this tag (LogPlan::is_tagged), before its
  // workers are opened. Whether the folder of the run's files has changed.
  bool BeginRound(const std::string& run_tag);

  // The write ends of a new worker's pipes, for WorkerSpec; the caller closes
  // them once the worker has been started. ResourceExhausted: no descriptor is
  // left.
  struct Pipes {
    int stdout_fd = -1;
    int stderr_fd = -1;
    // The other ends of these, where they are pseudo-terminals: what is written
    // there is typed, and the size set there is the worker's.
    OwnedFd stdout_terminal;
    OwnedFd stderr_terminal;
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

  // For how long the console has kept a stream of this worker from being read;
  // zero: it does not.
  Duration HeldUpFor(int local_rank);

  // Returns when everything that ended workers wrote has reached the files, and
  // the console, which is waited for as `patience` says. Descendants of a
  // worker that still hold its pipe do not matter. Whether the console took
  // everything.
  bool Flush(const ConsoleWriter::Patience& patience = {
                 .without_progress = std::chrono::seconds(1)});

  // Flush for the end: a console that does not take what is left is given up,
  // and what the pipes still hold goes to the files alone.
  void Finish(const ConsoleWriter::Patience& patience);

  // The folder of this run's files; empty if the plan writes none, or its tag
  // is not known yet.
  const std::string& RunFolder() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_LOG_RELAY_H_
