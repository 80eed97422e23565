#ifndef MUSTER_AGENT_GUARDIAN_ORPHAN_SWEEP_H_
#define MUSTER_AGENT_GUARDIAN_ORPHAN_SWEEP_H_

#include <chrono>
#include <string>
#include <vector>

#include "agent/guardian/descendants.h"

namespace muster::agent {

// The current children of this process. For a process with one thread.
std::vector<ProcessEntry> ChildrenOfThisProcess();

// The agent's clean-up after the guardian's death. The agent is a sub-reaper,
// so the workers and their descendants have become its children, and it kills
// and reaps them. It cannot distinguish them from other children: the caller
// names those to spare.
class OrphanSweep {
 public:
  // The limit of the clean-up: a process in an uninterruptible system call may
  // never die.
  static constexpr std::chrono::seconds kDeadline{10};

  OrphanSweep() : end_(std::chrono::steady_clock::now() + kDeadline) {}

  // Kills and reaps all children except `spared` and their descendants; does
  // not wait. Returns true once no process is left or the deadline has passed;
  // otherwise call again after wait().
  bool Pass(const std::vector<ProcessEntry>& spared);
  std::chrono::milliseconds wait() const { return wait_; }

  // Names the processes that did not die, for a message; empty if none.
  const std::string& left() const { return left_; }

 private:
  const std::chrono::steady_clock::time_point end_;
  std::chrono::milliseconds wait_{1};
  std::string left_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_ORPHAN_SWEEP_H_
