#include "agent/guardian/orphan_sweep.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace muster::agent {

std::vector<ProcessEntry> ChildrenOfThisProcess() {
  // Reading this file is much faster than a walk through /proc, which takes
  // milliseconds. Some kernels are built without it.
  std::ifstream listing("/proc/thread-self/children");
  if (listing) {
    pid_t pid = 0;
    if (!(listing >> pid)) return {};
  }
  const pid_t self = getpid();
  std::vector<ProcessEntry> children = Descendants(self);
  std::erase_if(children, [self](const ProcessEntry& process) {
    return process.parent != self;
  });
  return children;
}

bool OrphanSweep::Pass(const std::vector<ProcessEntry>& spared) {
  left_.clear();
  const std::vector<ProcessEntry> found = KillDescendants(spared);
  const pid_t self = getpid();
  for (const ProcessEntry& process : found) {
    if (process.parent == self && waitpid(process.pid, nullptr, WNOHANG) > 0) {
      continue;
    }
    left_ += (left_.empty() ? "" : ", ") + std::to_string(process.pid);
  }
  // Returns only if the walk found none: a process that was reaped just now may
  // have left children, which the next walk finds.
  if (found.empty()) return true;
  if (std::chrono::steady_clock::now() >= end_) return true;
  wait_ = std::min(2 * wait_, std::chrono::milliseconds(50));
  return false;
}

}  // namespace muster::agent
