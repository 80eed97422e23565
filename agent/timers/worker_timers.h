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
// TORCHELASTIC_ENABLE_FILE_TIMER=1. A process whose timer expires gets the
// signal that the timer names. Not thread-safe.
class WorkerTimers {
 public:
  struct Options {
    bool enabled = false;
    // path of the pipe (TORCHELASTIC_TIMER_FILE); empty: a pipe in the round's
    // folder
    std::string path;
    // callback that prints lines for the user
    std::function<void(const std::string&)> on_notice;
  };

  // Reads the options from TORCHELASTIC_ENABLE_FILE_TIMER and
  // TORCHELASTIC_TIMER_FILE.
  static Options FromEnvironment(
      const std::map<std::string, std::string>& environment);

  explicit WorkerTimers(Options options) : options_(std::move(options)) {}
  ~WorkerTimers();
  WorkerTimers(const WorkerTimers&) = delete;
  WorkerTimers& operator=(const WorkerTimers&) = delete;

  // Begins a round: drops all timers and makes a new pipe, to which the workers
  // write their timers. The pipe is at the path that the options name or,
  // without such a path, in `folder`. After an error, which is printed, the
  // round has no pipe. An expired timer sends its signal only to a descendant
  // of `guardian`.
  void Open(const std::string& folder, pid_t guardian);

  // The path of the pipe, for TORCHELASTIC_TIMER_FILE; empty: there is no pipe.
  const std::string& path() const { return path_; }

  // The pipe's descriptor for poll(): readable when workers have written timer
  // requests, which Look must read. -1: there is no pipe.
  int fd() const { return pipe_.get(); }
  // The time by which Look must be called again, so that an expired timer is
  // noticed; nullopt: no timer is set.
  std::optional<Instant> NextLook(Instant now) const;

  // Reads new timer requests from the pipe, and sends to each process with an
  // expired timer the signal that the timer names. Does not block.
  void Look();

  // If a timer has expired in this round and process `pid` got a signal for it,
  // returns the timer's scope, a name that the worker has chosen. Otherwise
  // empty.
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
  // whether the user was notified of an invalid line in this round
  bool complained_ = false;
  // Key: the id of a process that got a signal in this round because one of its
  // timers had expired. Value: the timer's scope, a name that the worker has
  // chosen.
  std::map<pid_t, std::string> expired_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_TIMERS_WORKER_TIMERS_H_
