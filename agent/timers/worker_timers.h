#ifndef MUSTER_AGENT_TIMERS_WORKER_TIMERS_H_
#define MUSTER_AGENT_TIMERS_WORKER_TIMERS_H_

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "agent/timers/file_timers.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster::agent {

// Serves workers' timers (FileTimers) over a named pipe, as torchrun does with
// TORCHELASTIC_ENABLE_FILE_TIMER=1: a process whose timer expires gets the
// signal that the timer names. Not thread-safe.
class WorkerTimers {
 public:
  struct Options {
    bool enabled = false;
    std::string path;  // TORCHELASTIC_TIMER_FILE; empty: in the round's folder
    std::function<void(const std::string&)> on_notice;  // lines for a person
  };

  // What TORCHELASTIC_ENABLE_FILE_TIMER and TORCHELASTIC_TIMER_FILE say.
  static Options FromEnvironment(
      const std::map<std::string, std::string>& environment);

  explicit WorkerTimers(Options options) : options_(std::move(options)) {}
  ~WorkerTimers();
  WorkerTimers(const WorkerTimers&) = delete;
  WorkerTimers& operator=(const WorkerTimers&) = delete;

  // A round begins: a new pipe without timers, in `folder` where the options
  // name none. Only descendants of `guardian` get signals. What goes wrong is
  // told; then there is no pipe.
  void Open(const std::string& folder, pid_t guardian);

  // The pipe, for TORCHELASTIC_TIMER_FILE; empty: none.
  const std::string& path() const { return path_; }

  // Readable (poll) when Look has something to do; -1: never.
  int fd() const { return pipe_.get(); }
  // When Look must be called at the latest.
  std::optional<Instant> NextLook(Instant now) const;

  // Reads what came and sends the signals that are due. Does not block.
  void Look();

  // The scope of the timer for which the process got a signal in this round;
  // empty: none.
  std::string ExpiredScope(pid_t pid) const;

 private:
  bool MakePipe(const std::string& path);
  void Read();
  void Reap(const FileTimers::Expired& expired);
  void Notice(const std::string& line) const;

  const Options options_;
  pid_t guardian_ = 0;
  std::string path_;
  OwnedFd pipe_;
  FileTimers timers_;
  bool complained_ = false;               // of a line, in this round
  std::map<pid_t, std::string> expired_;  // scopes by process, in this round
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_TIMERS_WORKER_TIMERS_H_
