#ifndef MUSTER_AGENT_PROGRESS_HANG_POLICY_H_
#define MUSTER_AGENT_PROGRESS_HANG_POLICY_H_

#include "base/time.h"

namespace muster::agent {

// The value of --hang-timeout: the rule for when a worker's silence counts as a
// hang. The rule applies only to workers that have reported in this round. A
// worker that has not reported yet may be compiling, or may not report at all.
enum class HangDetection {
  // "auto": the longest permitted silence is the WATCHDOG_S that the worker has
  // reported; without such a report, a learned value (hang_watch.h)
  kLearned,
  // a number of seconds: the longest permitted silence is the WATCHDOG_S that
  // the worker has reported; without such a report, HangPolicy::timeout
  kGiven,
  kOff,  // "off": no silence counts as a hang; WATCHDOG_S is ignored
};

struct HangPolicy {
  HangDetection detection = HangDetection::kLearned;
  // With kGiven, the duration of silence that counts as a hang.
  Duration timeout = Duration::zero();

  bool operator==(const HangPolicy&) const = default;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PROGRESS_HANG_POLICY_H_
