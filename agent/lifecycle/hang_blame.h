#ifndef MUSTER_AGENT_LIFECYCLE_HANG_BLAME_H_
#define MUSTER_AGENT_LIFECYCLE_HANG_BLAME_H_

#include <string>
#include <vector>

#include "agent/lifecycle/hang_watch.h"
#include "agent/lifecycle/worker_state.h"
#include "base/time.h"

namespace muster::agent {

// The silent worker of a node that is blamed for a hang, and the evidence. The
// order of the last reports alone is no evidence: workers that wait for one
// another fall silent within milliseconds.
struct HangBlame {
  HangWatch::Silence silence;
  WorkerState state = WorkerState::kOther;
  // Completes the sentence about the worker, after a semicolon: the state of
  // its process, or that several workers are silent and the cause may be
  // another one. May be empty.
  std::string remark;
};

struct SilentWorker {
  HangWatch::Silence silence;
  WorkerState state = WorkerState::kOther;
};

// Workers fell silent together if the times of their last reports differ by at
// most the deadline divided by this number.
inline constexpr int kTogetherDivisor = 10;

// Chooses the worker to blame. `overdue`: the worker that fell silent first
// among those whose deadline has passed. `silent`: all workers that have a
// deadline, `overdue` included. `records`: the folder for `launch inspect`; may
// be empty.
//
// The order of choice: 1. a worker that a signal has stopped, however short its
// silence, because its peers wait for it; 2. among the workers that fell silent
// together with `overdue` and are nearly overdue, one in an uninterruptible
// wait, then one whose main thread has ended; 3. `overdue`. Within a class the
// one that fell silent first. Pure.
HangBlame BlameHang(Instant now, const HangWatch::Silence& overdue,
                    const std::vector<SilentWorker>& silent,
                    const std::string& records);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_HANG_BLAME_H_
