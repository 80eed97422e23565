#ifndef MUSTER_AGENT_GUARDIAN_LIVING_GUARDIANS_H_
#define MUSTER_AGENT_GUARDIAN_LIVING_GUARDIANS_H_

#include <mutex>
#include <vector>

#include "agent/guardian/descendants.h"

namespace muster::agent {

// The guardians that are children of this process (usually one), and its other
// children that are not workers (NCCL id processes). When a guardian has died,
// this process kills the workers that the guardian left, but must not kill the
// processes in this list. Thread-safe.
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
