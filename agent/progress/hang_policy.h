#ifndef MUSTER_AGENT_PROGRESS_HANG_POLICY_H_
#define MUSTER_AGENT_PROGRESS_HANG_POLICY_H_

#include "base/time.h"

namespace muster::agent {

// Which silence of a worker that has reported in this round is a hang
// (--hang-timeout). A worker that has not reported yet never hangs: it may be
// compiling, or not know how to report.
enum class HangDetection {
  kLearned,  // auto: the worker's own WATCHDOG_S, else learned (hang_watch.h)
  kGiven,    // SECONDS: the worker's own WATCHDOG_S, else HangPolicy::timeout
  kOff,      // off: none, not even one of the worker's own
};

struct HangPolicy {
  HangDetection detection = HangDetection::kLearned;
  Duration timeout = Duration::zero();  // kGiven
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PROGRESS_HANG_POLICY_H_
