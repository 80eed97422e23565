#ifndef MUSTER_AGENT_GUARDIAN_DESCENDANTS_H_
#define MUSTER_AGENT_GUARDIAN_DESCENDANTS_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace muster::agent {

// A process as /proc/<pid>/stat shows it. The start time tells it from a later
// process with the same pid.
struct ProcessEntry {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  char state = '?';         // 'Z': ended and not yet reaped
  uint64_t start_time = 0;  // clock ticks since boot

  bool operator==(const ProcessEntry&) const = default;
};

// Reads one line of /proc/<pid>/stat, whose second field, the command, may hold
// blanks and parentheses. Nothing if it is not one. Pure.
std::optional<ProcessEntry> ParseProcessStat(std::string_view line);

// That process as it is now; nothing if there is none.
std::optional<ProcessEntry> ReadProcess(pid_t pid);

// Those of `processes` whose line of parents leads to `root`, parents before
// children, without `root`. Pure.
std::vector<ProcessEntry> DescendantsAmong(
    const std::vector<ProcessEntry>& processes, pid_t root);

// The descendants of `root` at this moment, by one walk through /proc. A
// process that forks meanwhile may be missed: repeat until none is left.
std::vector<ProcessEntry> Descendants(pid_t root);

// Sends SIGKILL to every descendant of this process other than `spared` and
// their descendants. Gives all that it found, ended ones (state 'Z') included;
// the caller reaps. Does not wait: call again after a SIGCHLD or a moment.
std::vector<ProcessEntry> KillDescendants(
    const std::vector<ProcessEntry>& spared);

// Sends `signal` to that very process: if the pid belongs to another by now,
// nothing happens (on kernels without pidfd, before 5.3, nearly so).
void SignalProcess(const ProcessEntry& process, int signal);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_DESCENDANTS_H_
