#ifndef MUSTER_AGENT_GUARDIAN_LIVING_GUARDIANS_H_
#define MUSTER_AGENT_GUARDIAN_LIVING_GUARDIANS_H_

#include <mutex>
#include <vector>

#include "agent/guardian/descendants.h"

namespace muster::agent {

// The children of this process that are not workers: the guardians (usually
// one) and the NCCL id processes. When a guardian has died, this process kills
// the workers that the guardian left, but must not kill the processes in this
// list. Thread-safe.
class LivingGuardians {
 public:
  static LivingGuardians& OfThisProcess();

  void Add(pid_t pid);
  void Remove(pid_t pid);
  std::vector<ProcessEntry> List();

 private:
  std::mutex mutex_;
  std::vector<ProcessEntry> guardians_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_LIVING_GUARDIANS_H_
