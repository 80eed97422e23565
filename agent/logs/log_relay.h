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
#include "agent/logs/recent_output.h"
#include "base/file_queue.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster::agent {

// Copies workers' output from their pipes to files and to the console.
//
// Files: <directory>/<run name>/attempt_<n>/<global rank>/{stdout,stderr}.log,
// byte for byte, rotated by size as LogPlan says. Console: whole lines with the
// prefix "[node:rank] ". Lines over 64 KiB are split, with a note; an
// unfinished line is shown after a short time (see WorkerStream).
//
// A slow console slows the workers down as a pipe would. While the console's
// queue is full, the relay does not read the pipes of the streams that the
// console shows, and their files wait as well. All other streams continue.
//
// The files are written, and the folders made, by separate threads (FileQueue).
// A slow file system slows the workers down as well. A file system that
// completes no work for some seconds counts as hung (FileBacklog): the workers
// then do not wait for it, and output that does not fit in the backlog is
// dropped. If the file can be written again, a note in the file says how much
// was dropped and when.
//
// If the console is a terminal, the only worker of a node gets a
// pseudo-terminal, whose output is passed on unchanged, without lines and
// prefixes (LogRouter::PassageOf).
//
// A file that cannot be written does not affect the worker: one message appears
// on the console, and the missing bytes are counted.
//
// Thread-safe. Owns one thread for the pipes, started with the first worker.
class LogRelay {
 public:
  // `account`: counts the bytes that the log files lack; complete once the
  // relay is destroyed. May be null.
  explicit LogRelay(LogPlan plan, std::shared_ptr<Console> console = nullptr,
                    std::shared_ptr<LogAccount> account = nullptr);
  ~LogRelay();

  // The longest time that CheckWritable waits for the file system.
  static constexpr Duration kCheckTimeout = std::chrono::seconds(2);

  // Checks, before any worker starts, that the log folder can be written.
  // Creates the folder. PermissionDenied, ResourceExhausted (full) or Internal
  // with path and errno text. DeadlineExceeded: the file system does not
  // answer.
  absl::Status CheckWritable();

  // The queue, with a thread of its own, for all work in the log folder except
  // the writing of logs.
  FileQueue& folders();

  // Begins a round of the run with this tag (LogPlan::is_tagged). Must be
  // called before Open for the round's workers. Returns whether the run's
  // folder has changed.
  bool BeginRound(const std::string& run_tag);

  // The write ends of a new worker's pipes, for WorkerSpec. Open makes the
  // pipes; its caller closes these ends once the worker has been started.
  // ResourceExhausted: no free descriptor.
  struct Pipes {
    int stdout_fd = -1;
    int stderr_fd = -1;
    // The controlling ends of stdout and stderr, if these are pseudo-terminals.
    // Bytes written to such an end are the worker's keyboard input. The size of
    // such an end is the size of the worker's terminal.
    OwnedFd stdout_terminal;
    OwnedFd stderr_terminal;
  };
  using Worker = LoggedWorker;
  absl::StatusOr<Pipes> Open(const Worker& worker);

  // The folder of a worker's files, for TORCHELASTIC_ERROR_FILE; empty if there
  // are no files.
  std::string DirectoryOf(int attempt, int rank) const;

  // The newest output of all workers, for `launch logs`.
  const std::shared_ptr<RecentOutput>& recent() const;

  // The last lines of a worker's stderr, oldest first, without escape sequences
  // and control characters. Reads the pipe until it is empty, so that no line
  // is missing after the worker's exit.
  std::vector<std::string> StderrTail(int local_rank);

  // The time for which this worker's pipes have not been read, and the cause: a
  // full console (kConsole) or slow log files (kFiles). Zero: the pipes are
  // being read.
  struct HeldUp {
    enum class By { kConsole, kFiles };
    Duration time = Duration::zero();
    By by = By::kConsole;
  };
  HeldUp HeldUpFor(int local_rank);

  // Waits until the output of all exited workers has reached the files and the
  // console. `limits` bounds the wait for the console. A file that does not
  // accept its bytes in time is abandoned (FileQueue::Finish). Does not wait
  // for descendants of a worker that still hold its pipe. Returns whether the
  // console and the files accepted everything.
  bool Flush(const ConsoleWriter::WaitLimits& limits = {
                 .without_progress = std::chrono::seconds(1)});

  // Like Flush, at the end of the job. If the console stalls, the remaining
  // output goes to the files only. Files that are not written in time are
  // abandoned: a message on the console names the path that does not answer.
  void Finish(const ConsoleWriter::WaitLimits& limits);

  // The folder of this run's files; empty if there are no files, or the run's
  // tag is not known yet.
  const std::string& RunFolder() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_LOG_RELAY_H_
