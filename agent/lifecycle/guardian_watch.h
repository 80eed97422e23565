#ifndef MUSTER_AGENT_LIFECYCLE_GUARDIAN_WATCH_H_
#define MUSTER_AGENT_LIFECYCLE_GUARDIAN_WATCH_H_

#include <chrono>
#include <optional>

#include "base/time.h"

namespace muster::agent {

// Interval of the guardian's signs of life.
inline constexpr Duration kGuardianSignEvery = std::chrono::seconds(2);

// Decides when the guardian, the workers' parent process, stands still: it was
// stopped (SIGSTOP) or hangs in a system call, so that nobody notices the end
// of a worker, starts one or ends one. The guardian gives a sign of life every
// kGuardianSignEvery; every other notice of the guardian counts as well.
//
// Only time in which the agent runs counts: however long ago the last look was,
// it adds at most kMaxGap. So the watch does not mistake a suspended machine, a
// stopped job or a machine under load for a guardian that stands still. Pure.
class GuardianWatch {
 public:
  // The agent's own running time without a sign after which the guardian stands
  // still.
  static constexpr Duration kDeadline = std::chrono::seconds(10);
  // How often Look must be called, at least.
  static constexpr Duration kLookEvery = std::chrono::milliseconds(2500);
  static constexpr Duration kMaxGap = std::chrono::seconds(3);

  explicit GuardianWatch(Instant now) : last_(now) {}

  // The guardian has given a sign. Signs that have arrived count before Look is
  // called.
  void Heard(Instant now);

  // Returns true, once, if the guardian stands still.
  bool Look(Instant now);

  // The time at which Look must be called at the latest; nullopt once the
  // guardian stands still.
  std::optional<Instant> NextLook() const;

 private:
  Instant last_;  // of the last sign or look
  Duration silent_ = Duration::zero();
  bool stands_still_ = false;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_GUARDIAN_WATCH_H_
