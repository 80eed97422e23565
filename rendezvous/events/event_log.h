#ifndef MUSTER_RENDEZVOUS_EVENTS_EVENT_LOG_H_
#define MUSTER_RENDEZVOUS_EVENTS_EVENT_LOG_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "base/file_queue.h"
#include "base/time.h"
#include "rendezvous/events/event_throttle.h"
#include "rendezvous/events/status_json.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::rendezvous {

// Formats seconds since 1970 for people: "2026-03-01 14:05:09 UTC". Always UTC,
// because a job's nodes may be in several time zones. Returns "unknown" for 0
// and for values outside of the years 1970 to 9999. Pure.
std::string UtcText(double unix_seconds);

// Formats seconds since 1970 for programs: "2026-03-01T14:05:09.250Z". Pure.
std::string IsoText(double unix_seconds);

// Formats one decision of the coordinator as a line of JSON for programs: an
// object with "time", "run_id", "round", "kind", "node" (null if the decision
// concerns the whole job), "reason" and, if the decision has one, "failure",
// followed by a newline. `unix_time`: seconds since 1970 at which the decision
// was received. Pure.
std::string DecisionJson(const std::string& run_id, const Decision& decision,
                         double unix_time);

// Formats the state of a job as a line of JSON for programs. The line has the
// fields of DecisionJson and the field "state" with the object that StateJson
// returns. The field "kind" is "state", and "reason" says why the job is in its
// phase. Pure.
std::string StateLine(const JobStatus& job, StateDetail detail,
                      double unix_time);

// A file of the coordinator's decisions and the jobs' states, one JSON object
// per line, for later analysis.
//
// Thread-safe. The first failure to write is reported through `on_trouble`. A
// later failure is reported only if a write has succeeded in between. No
// failure stops the job.
//
// A thread of its own writes the file, so that callers do not wait for the file
// system. Decisions that exceed kMaxWaitingBytes of unwritten text are dropped
// and counted.
class EventLog {
 public:
  // The mechanism that limits the size of the file.
  enum class Rotation {
    kOwn,  // EventLog itself rotates the file: at most 4 files of 16 MiB each
    // Another program, such as logrotate, renames the event log's file and
    // sends a signal to this process, which then calls Reopen. If no program
    // renames the file, EventLog itself rotates the file: at most 4 files of
    // 256 MiB each.
    kOutside,
  };

  static constexpr int64_t kMaxWaitingBytes = 4 << 20;
  // How long Reopen waits for the file system.
  static constexpr Duration kTimeout = std::chrono::seconds(5);

  // `root`: a folder given by the user, in which other users may write; the
  // file lies below it (RotatingFile::Limits). Empty: the folder of `path`. The
  // constructor does not access the file system.
  EventLog(std::string path, Rotation rotation,
           std::function<void(const std::string& sentence)> on_trouble,
           std::string root = "");

  // Creates the file and its parent folders now, so that the file exists even
  // if no decision is ever written.
  void Create() { file_.Open(); }

  // Waits until all decisions are written. Returns false if the time limit of
  // FileQueue::Finish passes first; later decisions are then lost.
  bool Finish() { return queue_.Finish(); }

  // Opens the event log's file again, by its path, after another program has
  // renamed the old file. Also opens the file for the first time, if its folder
  // exists. On failure returns the reason, and keeps the current file open.
  // DeadlineExceeded: the file system does not answer.
  absl::Status Reopen() { return file_.Reopen(kTimeout); }

  // If decisions were dropped, writes how many. Then calls Finish.
  ~EventLog();

  // Appends one line with the current time, unless EventThrottle's rate limit
  // drops the decision.
  void Append(const std::string& run_id, const Decision& decision);

  // Appends the line of StateLine with the current time. The caller limits the
  // rate (StateSchedule).
  void AppendState(const JobStatus& job, StateDetail detail);

  // The number of decisions that were omitted because of the rate limit. Any
  // thread.
  int64_t omitted() const { return omitted_; }
  // The number of bytes that could not be written, or for which there was no
  // room in memory. Any thread.
  int64_t lost_bytes() const { return lost_bytes_; }

 private:
  std::atomic<int64_t> omitted_ = 0;
  // Declared before `file_`, whose thread changes it.
  std::atomic<int64_t> lost_bytes_ = 0;
  std::mutex mutex_;  // guards throttle_
  EventThrottle throttle_;
  FileQueue queue_;
  QueuedFile file_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_EVENTS_EVENT_LOG_H_
