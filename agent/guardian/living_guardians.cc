#include "agent/guardian/living_guardians.h"

namespace muster::agent {

LivingGuardians& LivingGuardians::OfThisProcess() {
  // Never destroyed, because another static object's destructor may end a
  // guardian.
  static auto* const living = new LivingGuardians;
  return *living;
}

void LivingGuardians::Add(pid_t pid) {
  const auto process = ReadProcess(pid);
  if (!process) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  guardians_.push_back(*process);
}

void LivingGuardians::Remove(pid_t pid) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(guardians_, [pid](const ProcessEntry& process) {
    return process.pid == pid;
  });
}

std::vector<ProcessEntry> LivingGuardians::List() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return guardians_;
}

}  // namespace muster::agent
