#ifndef MUSTER_AGENT_LIFECYCLE_HANG_BLAME_H_
#define MUSTER_AGENT_LIFECYCLE_HANG_BLAME_H_

#include <string>
#include <vector>

#include "agent/lifecycle/hang_watch.h"
#include "agent/lifecycle/worker_state.h"
#include "base/time.h"

namespace muster::agent {

// Which of a node's silent workers hangs, and what speaks for it. Workers that
// wait for one another fall silent within milliseconds, in an order that says
// nothing: each had told the same step before one of them stood still.
struct HangBlame {
  HangWatch::Silence silence;
  WorkerState state = WorkerState::kOther;
  // Ends a sentence about the worker, after a semicolon: what the kernel says
  // of it, or that it is one of several and need not be the one. May be empty.
  std::string remark;
};

struct SilentWorker {
  HangWatch::Silence silence;
  WorkerState state = WorkerState::kOther;
};

// Two that fell silent within this part of a deadline did so together.
inline constexpr int kTogetherDivisor = 10;

// `overdue`: of the workers whose deadline has passed, the one that fell silent
// first. `silent`: all that have a deadline, among them that one. `records`:
// the folder that `launch inspect` reads; may be empty.
//
// Blamed is the one that is stopped, however long it has been silent: its peers
// wait for it. Else, of those that fell silent together with `overdue` and are
// as good as overdue, one whose thread waits uninterruptibly, then one whose
// thread has ended. Else `overdue`. Of equal ones, the first to fall silent.
// Pure.
HangBlame BlameHang(Instant now, const HangWatch::Silence& overdue,
                    const std::vector<SilentWorker>& silent,
                    const std::string& records);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_HANG_BLAME_H_
