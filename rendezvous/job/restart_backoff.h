#ifndef MUSTER_RENDEZVOUS_JOB_RESTART_BACKOFF_H_
#define MUSTER_RENDEZVOUS_JOB_RESTART_BACKOFF_H_

#include <chrono>
#include <string>

#include "base/time.h"

namespace muster::rendezvous {

// The delay before a round that follows a worker's failure. Without a delay, a
// program that fails immediately would keep all nodes busy with restarts. Pure.
//
//   failures in a row   delay
//   1, 2                none
//   3, 4, 5, …          up to 0.5 s, 1 s, 2 s, …, 30 s
//
// A round that has run for kHealthyRound or longer ends a row of failures. The
// delay is random within limits, so that jobs which failed together, for
// instance because of a file server, do not restart at the same time.
class RestartBackoff {
 public:
  // Number of failures in a row that cause no delay of the next round.
  static constexpr int kFreeFailures = 2;
  static constexpr Duration kFirstDelay = std::chrono::milliseconds(500);
  static constexpr Duration kMaxDelay = std::chrono::seconds(30);
  static constexpr Duration kHealthyRound = kMaxDelay;

  // `failures`: the number of failures in a row that an earlier coordinator of
  // the job had counted.
  explicit RestartBackoff(int failures = 0) : failures_(failures) {}

  // Why a round ended: because of a worker's failure (kFailure), or for another
  // reason (kOther), such as a change of membership.
  enum class End { kFailure, kOther };
  // Counts the end of a round that had run for `ran`.
  void RoundEnded(End end, Duration ran);
  // Number of failures in a row, without a healthy round between them.
  int failures() const { return failures_; }

  // The delay before the next round: a random time between half of the
  // exponential delay and all of it. The random part is a hash of the run's tag
  // and of the number of the round that failed.
  Duration Delay(const std::string& run_tag, int round) const;

 private:
  int failures_ = 0;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_RESTART_BACKOFF_H_
