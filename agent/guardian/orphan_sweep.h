#ifndef MUSTER_AGENT_GUARDIAN_ORPHAN_SWEEP_H_
#define MUSTER_AGENT_GUARDIAN_ORPHAN_SWEEP_H_

#include <chrono>
#include <string>
#include <vector>

#include "agent/guardian/descendants.h"

namespace muster::agent {

// The children that this process has now. For a process with one thread.
std::vector<ProcessEntry> ChildrenOfThisProcess();

// What the agent does once its guardian is dead: it is a sub-reaper, so that
// workers and their descendants have become its own, and it kills and reaps
// them. It cannot tell theirs from other children of its own: the caller names
// those to spare.
class OrphanSweep {
 public:
  // Until when it is tried: a process that hangs in the kernel dies late or
  // never.
  static constexpr std::chrono::seconds kDeadline{10};

  OrphanSweep() : end_(std::chrono::steady_clock::now() + kDeadline) {}

  // Kills and reaps what there is besides `spared` and theirs; does not wait.
  // True once nothing is left or the deadline has passed: look again after
  // wait() otherwise.
  bool Pass(const std::vector<ProcessEntry>& spared);
  std::chrono::milliseconds wait() const { return wait_; }

  // Empty if nothing was left; else what would not die, for people.
  const std::string& left() const { return left_; }

 private:
  const std::chrono::steady_clock::time_point end_;
  std::chrono::milliseconds wait_{1};
  std::string left_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_ORPHAN_SWEEP_H_
