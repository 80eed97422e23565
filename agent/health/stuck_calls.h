#ifndef MUSTER_AGENT_HEALTH_STUCK_CALLS_H_
#define MUSTER_AGENT_HEALTH_STUCK_CALLS_H_

namespace muster::agent {

// How many calls that may never return are under way in this process, so that
// a check that is repeated does not pile up threads. Thread-safe.
class StuckCalls {
 public:
  // False: so many are stuck that no other shall begin.
  static bool Begin();
  static void End();
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_STUCK_CALLS_H_
