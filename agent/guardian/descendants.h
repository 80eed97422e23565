#ifndef MUSTER_AGENT_GUARDIAN_DESCENDANTS_H_
#define MUSTER_AGENT_GUARDIAN_DESCENDANTS_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace muster::agent {

// A process as /proc/<pid>/stat shows it. The start time distinguishes the
// process from a later one with the same pid.
struct ProcessEntry {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  char state = '?';         // 'Z': ended and not yet reaped
  uint64_t start_time = 0;  // clock ticks since boot

  bool operator==(const ProcessEntry&) const = default;
};

// Parses one line of /proc/<pid>/stat, whose second field, the command, may
// contain blanks and parentheses. nullopt: invalid. Pure.
std::optional<ProcessEntry> ParseProcessStat(std::string_view line);

// Reads the current state of a process; nullopt if the process does not exist.
std::optional<ProcessEntry> ReadProcess(pid_t pid);

// The descendants of `root` among `processes`, parents before children, without
// `root`. Pure.
std::vector<ProcessEntry> DescendantsAmong(
    const std::vector<ProcessEntry>& processes, pid_t root);

// The descendants of `root`, found by one walk through /proc. A process that
// forks during the walk may be missed: repeat until none is left.
std::vector<ProcessEntry> Descendants(pid_t root);

// Sends SIGKILL to every descendant of this process, except those in `spared`
// and their descendants. Returns all descendants that it found, zombies (state
// 'Z') included; the caller reaps them. Does not wait: call again after a
// SIGCHLD or a short time.
std::vector<ProcessEntry> KillDescendants(
    const std::vector<ProcessEntry>& spared);

// Sends `signal` to the process, and not to another process that got the same
// pid later (before Linux 5.3, without pidfd, a small race remains).
void SignalProcess(const ProcessEntry& process, int signal);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_DESCENDANTS_H_
