#ifndef MUSTER_AGENT_HEALTH_STUCK_CALLS_H_
#define MUSTER_AGENT_HEALTH_STUCK_CALLS_H_

namespace muster::agent {

// Counts the calls in this process that may never return, so that repeated
// checks do not accumulate threads. Thread-safe.
class StuckCalls {
 public:
  // Returns false if so many calls are stuck that no other may begin.
  static bool Begin();
  static void End();
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_STUCK_CALLS_H_
