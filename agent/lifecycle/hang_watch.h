#ifndef MUSTER_AGENT_LIFECYCLE_HANG_WATCH_H_
#define MUSTER_AGENT_LIFECYCLE_HANG_WATCH_H_

#include <optional>
#include <vector>

#include "agent/progress/hang_policy.h"
#include "agent/progress/progress_message.h"
#include "base/time.h"
#include "rendezvous/protocol/progress.h"

namespace muster::agent {

// What the workers of one round have said of themselves, and which of them has
// been silent for too long. Pure; not thread-safe.
//
// A worker's deadline is, in this order: none where the policy is off; its own
// WATCHDOG_S; the policy's; or learned from the pauses between its reports in
// this round: ten times the longest, but at least five minutes (a checkpoint or
// an evaluation may come for the first time) and at most an hour more than the
// longest. It is learned after five pauses. Until then, and until the first
// report, a worker may be silent for ever.
class HangWatch {
 public:
  static constexpr int kLeastPauses = 5;
  static constexpr Duration kLeastLearned = std::chrono::minutes(5);
  static constexpr Duration kMaxBeyondLongest = std::chrono::hours(1);

  explicit HangWatch(HangPolicy policy) : policy_(policy) {}

  // Starts a new round, in which no worker has reported yet.
  void Begin(int workers);
  void Hear(Instant now, int local_rank, const ProgressMessage& message);
  // The worker has ended and is no longer watched.
  void End(int local_rank);
  // This process was stopped or suspended for the time `lost`, and the workers
  // with it. That time does not count as silence of a worker.
  void StoodStill(Duration lost);

  struct Silence {
    int local_rank = 0;
    Instant since;
    Duration deadline = Duration::zero();
    std::optional<int64_t> step;  // the last that it told
  };
  // Of the workers whose deadline has passed, the one that fell silent first.
  std::optional<Silence> Overdue(Instant now) const;
  // The silence of every worker that has a deadline, passed or not, ordered by
  // local rank.
  std::vector<Silence> Silent() const;
  std::optional<Instant> NextDeadline() const;

  // The progress of the workers that have reported, ordered by local rank.
  std::vector<rendezvous::WorkerProgress> Progress(Instant now) const;

 private:
  struct Worker {
    bool watched = true;
    std::optional<Instant> heard;  // none: not in this round
    int pauses = 0;
    Duration longest_pause = Duration::zero();
    ProgressMessage said;
  };
  std::optional<Duration> DeadlineOf(const Worker& worker) const;
  // The worker's silence; nullopt if the worker has no deadline.
  std::optional<Silence> SilenceOf(int local_rank) const;
  // The time at which the worker's silence becomes a hang; nullopt: never.
  std::optional<Instant> DueOf(const Worker& worker) const;

  const HangPolicy policy_;
  std::vector<Worker> workers_;  // by local rank
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_HANG_WATCH_H_
