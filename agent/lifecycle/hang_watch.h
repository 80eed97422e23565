#ifndef MUSTER_AGENT_LIFECYCLE_HANG_WATCH_H_
#define MUSTER_AGENT_LIFECYCLE_HANG_WATCH_H_

#include <optional>
#include <string>
#include <vector>

#include "agent/lifecycle/agent_policy.h"
#include "agent/progress/progress_message.h"
#include "base/time.h"
#include "rendezvous/protocol/progress.h"

namespace muster::agent {

// The state of the main thread of a worker's process, as the kernel reports it.
enum class WorkerState {
  kOther,    // the thread runs or sleeps, for instance waits for a peer
  kStopped,  // stopped by a signal until SIGCONT, but not by a debugger
  // in an uninterruptible wait in the kernel, for instance for a disk or driver
  kUninterruptible,
  kEnded,  // the process, or only its main thread, has ended
};

// Records the progress that the workers of one round have reported, and finds
// workers that have been silent for too long. Pure; not thread-safe.
//
// A worker's deadline is the longest silence that does not count as a hang. A
// worker has no deadline before its first report in the round, or if hang
// detection is off. Otherwise its deadline is the first of these values that
// exists:
// - the worker's own WATCHDOG_S (0: no deadline)
// - the time-out that the user has set (HangPolicy::timeout)
// - a value learned from the pauses between the worker's reports in this round,
//   once kLeastPauses pauses are known
//
// The learned value is ten times the longest pause, but at most an hour more
// than the longest pause. It is at least five minutes, because the first
// checkpoint or evaluation may take much longer than the pauses so far.
class HangWatch {
 public:
  static constexpr int kLeastPauses = 5;
  static constexpr Duration kLeastLearned = std::chrono::minutes(5);
  static constexpr Duration kMaxBeyondLongest = std::chrono::hours(1);

  explicit HangWatch(HangPolicy policy) : policy_(policy) {}

  // Starts a new round; all workers count as not having reported.
  void Begin(int workers);
  void RecordProgress(Instant now, int local_rank,
                      const ProgressMessage& message);
  // Stops watching a worker that has ended.
  void End(int local_rank);
  // Records that the agent and its workers were suspended for the time `lost`;
  // this time does not count as silence.
  void SuspendedFor(Duration lost);

  struct Silence {
    int local_rank = 0;
    Instant since;
    Duration deadline = Duration::zero();
    std::optional<int64_t> step;  // the step in the worker's last report
  };
  // Among the workers whose deadline has passed, the worker that has been
  // silent the longest; nullopt if no deadline has passed.
  std::optional<Silence> Overdue(Instant now) const;
  // The silence of every worker that has a deadline, whether the deadline has
  // passed or not, ordered by local rank.
  std::vector<Silence> Silent() const;
  std::optional<Instant> NextDeadline() const;

  // The progress of the workers that have reported, ordered by local rank.
  std::vector<rendezvous::WorkerProgress> Progress(Instant now) const;
  // The time that each worker has spent inside and outside of collectives, for
  // workers that report it, ordered by local rank.
  std::vector<rendezvous::RankTimes> Times() const;

 private:
  struct Worker {
    bool watched = true;
    // time of the worker's last report in this round
    std::optional<Instant> heard;
    int pauses = 0;
    Duration longest_pause = Duration::zero();
    ProgressMessage said;
  };
  std::optional<Duration> DeadlineOf(const Worker& worker) const;
  // The worker's silence; nullopt if the worker has no deadline.
  std::optional<Silence> SilenceOf(int local_rank) const;
  // The time at which the worker's silence counts as a hang; nullopt: never.
  std::optional<Instant> DueOf(const Worker& worker) const;

  const HangPolicy policy_;
  std::vector<Worker> workers_;  // workers by local rank
};

// The silent worker that is blamed for a hang on a node, and the evidence. The
// order of the last reports is no evidence: workers that wait for one another
// fall silent within milliseconds.
struct HangBlame {
  HangWatch::Silence silence;
  WorkerState state = WorkerState::kOther;
  // Text that is appended to the message about the blamed worker, with a
  // leading semicolon. Gives the state of the worker's process, or says that
  // several workers are silent and that another of them may cause the hang. May
  // be empty.
  std::string remark;
};

struct SilentWorker {
  HangWatch::Silence silence;
  WorkerState state = WorkerState::kOther;
};

// Workers count as having fallen silent together with the overdue worker if
// their last reports are close to its last report. The largest permitted
// difference is the overdue worker's deadline, divided by this number.
inline constexpr int kTogetherDivisor = 10;

// Chooses the worker to blame for a hang. `overdue`: the worker that fell
// silent first among those whose deadline has passed. `silent`: all workers
// that have a deadline, including `overdue`. `records`: the folder for `launch
// inspect`; may be empty.
//
// Blames the first of these workers that exists:
//   1. a worker that a signal has stopped, however short its silence, because
//      its peers wait for it
//   2. a worker in an uninterruptible wait, if it fell silent together with
//      `overdue` and is nearly overdue
//   3. a worker whose main thread has ended, on the two conditions of rule 2
//   4. `overdue`
// If a rule holds for several workers, blames the one that fell silent first.
// Pure.
HangBlame BlameHang(Instant now, const HangWatch::Silence& overdue,
                    const std::vector<SilentWorker>& silent,
                    const std::string& records);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_HANG_WATCH_H_
