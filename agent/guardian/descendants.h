#ifndef MUSTER_AGENT_GUARDIAN_DESCENDANTS_H_
#define MUSTER_AGENT_GUARDIAN_DESCENDANTS_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/monotonic_clock.h"

namespace muster::agent {

// A process as /proc/<pid>/stat shows it. The start time distinguishes the
// process from a later one with the same pid.
struct ProcessEntry {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  // state letter; 'Z': the process has ended and is not yet reaped
  char state = '?';
  uint64_t start_time = 0;  // start time in clock ticks since boot

  bool operator==(const ProcessEntry&) const = default;
};

// Parses one line of /proc/<pid>/stat. Its second field, the command, may
// contain blanks and parentheses. nullopt: invalid. Pure.
std::optional<ProcessEntry> ParseProcessStat(std::string_view line);

// Reads the current state of a process; nullopt if the process does not exist.
std::optional<ProcessEntry> ReadProcess(pid_t pid);

// The descendants of `root` among `processes`, parents before children, without
// `root`. Pure.
std::vector<ProcessEntry> DescendantsAmong(
    const std::vector<ProcessEntry>& processes, pid_t root);

// The descendants of `root`, found by one walk through /proc. A process that
// forks during the walk may be missed. To kill all descendants, repeat the call
// until the result is empty.
std::vector<ProcessEntry> Descendants(pid_t root);

// Sends SIGKILL to every descendant of this process, except those in `spared`
// and their descendants. Returns all descendants found, zombies (state 'Z')
// included; the caller reaps them. Does not wait until the processes are dead:
// call the function again after a SIGCHLD or a short time.
std::vector<ProcessEntry> KillDescendants(
    const std::vector<ProcessEntry>& spared);

// Sends `signal` to exactly this process, never to a later process with the
// same pid. Before Linux 5.3, which has no pidfd, a small race remains.
void SignalProcess(const ProcessEntry& process, int signal);

// The current children of this process. Only for a process with one thread.
std::vector<ProcessEntry> ChildrenOfThisProcess();

// The agent's clean-up after the guardian's death. The agent is a sub-reaper,
// so the workers and their descendants have become the agent's children.
// OrphanSweep kills and reaps them. The agent cannot distinguish these orphans
// from its other children, so the caller names the children to spare.
class OrphanSweep {
 public:
  // The time limit for killing the orphans. It is needed because a process in
  // an uninterruptible system call may never die.
  static constexpr std::chrono::seconds kDeadline{10};

  OrphanSweep() : end_(MonotonicNow() + kDeadline) {}

  // Kills and reaps all children except `spared` and their descendants; does
  // not block. Returns true once no process is left or the deadline has passed.
  // If Pass returns false, call it again after the delay that wait() returns.
  bool Pass(const std::vector<ProcessEntry>& spared);
  std::chrono::milliseconds wait() const { return wait_; }

  // The pids of the processes that did not die, for a message; empty if all
  // died.
  const std::string& left() const { return left_; }

 private:
  const Instant end_;
  std::chrono::milliseconds wait_{1};
  std::string left_;
};

// The children of the agent that are not workers: the guardians (usually one),
// and the processes that host the bootstrap root of an NCCL id. After a
// guardian's death the agent kills the orphaned workers, but must not kill the
// processes in this list. Thread-safe.
class SparedChildren {
 public:
  static SparedChildren& OfThisProcess();

  void Add(pid_t pid);
  void Remove(pid_t pid);
  std::vector<ProcessEntry> List();

 private:
  std::mutex mutex_;
  std::vector<ProcessEntry> children_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_DESCENDANTS_H_
