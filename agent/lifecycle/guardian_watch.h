#ifndef MUSTER_AGENT_LIFECYCLE_GUARDIAN_WATCH_H_
#define MUSTER_AGENT_LIFECYCLE_GUARDIAN_WATCH_H_

#include <chrono>
#include <optional>

#include "base/time.h"

namespace muster::agent {

// The interval at which the guardian sends signs of life.
inline constexpr Duration kGuardianSignEvery = std::chrono::seconds(2);

// Decides when the guardian, the workers' parent process, counts as
// unresponsive. A guardian that was stopped (SIGSTOP) or hangs in a system call
// neither starts nor ends workers, and does not notice their exits. The
// guardian sends a sign of life every kGuardianSignEvery. Each of its other
// notices counts as a sign of life too.
//
// Only time in which the agent itself runs counts: the time between two calls
// of Look counts as at most kMaxGap. So a suspended machine, a stopped job or a
// machine under load does not make the guardian count as unresponsive. Pure.
class GuardianWatch {
 public:
  // If the agent has run for this time without a sign of life from the
  // guardian, the guardian counts as unresponsive.
  static constexpr Duration kDeadline = std::chrono::seconds(10);
  // The interval at which the caller must call Look (see NextLook); shorter
  // than kMaxGap.
  static constexpr Duration kLookEvery = std::chrono::milliseconds(2500);
  static constexpr Duration kMaxGap = std::chrono::seconds(3);

  explicit GuardianWatch(Instant now) : last_(now) {}

  // Records a sign of life. Before Look, call this for all signs that have
  // arrived.
  void Heard(Instant now);

  // Returns true, once, if the guardian has become unresponsive.
  bool Look(Instant now);

  // The latest time for the next call of Look; nullopt once the guardian counts
  // as unresponsive.
  std::optional<Instant> NextLook() const;

 private:
  Instant last_;  // time of the last sign of life or call of Look
  Duration silent_ = Duration::zero();
  bool stands_still_ = false;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_GUARDIAN_WATCH_H_
