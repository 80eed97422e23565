#ifndef MUSTER_BASE_SUBPROCESS_H_
#define MUSTER_BASE_SUBPROCESS_H_

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster {

// The path of this process's executable with symbolic links resolved; empty if
// /proc cannot be read.
std::string OwnProgram();

// Returns argv or envp for exec and posix_spawn: a pointer to each word, then a
// null pointer. The result refers to `words`, which exec does not change.
// Allocates, so a process with threads must call it before fork.
inline std::vector<char*> ExecPointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) {
    pointers.push_back(const_cast<char*>(word.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

// A program to be started as a child of this process.
struct SubprocessPlan {
  // Value in `descriptors`: the child inherits this process's descriptor with
  // the same number.
  static constexpr int kInherit = -1;
  // Value in `descriptors`: the child's descriptor is /dev/null.
  static constexpr int kNull = -2;

  enum class Group {
    // the child stays in this process's process group, to which a terminal
    // sends signals such as that of Ctrl-C
    kInherit,
    kOwnGroup,  // the child gets a new process group
    // the child gets a new session, without a controlling terminal
    kOwnSession,
  };

  std::vector<std::string> argv;  // argv[0]: a path, or a name found in PATH
  // the child's whole environment, as NAME=VALUE
  std::vector<std::string> environment;
  // the child's working directory; empty: that of this process
  std::string working_directory;
  // descriptors[n] says what becomes the child's descriptor n: the number of a
  // descriptor of this process, kInherit or kNull. The child also inherits the
  // other descriptors of this process that have no close-on-exec flag. At most
  // 16.
  std::vector<int> descriptors;
  Group group = Group::kInherit;
  sigset_t blocked_signals = {};
  // If bit n - 1 is set, the child ignores signal n. All other signals have
  // their default action.
  uint64_t ignored_signals = 0;
  // Signal that the child gets when the thread that started it exits; 0: none.
  int death_signal = 0;
};

// Starts the program and returns its pid; the caller reaps it. Any thread.
//   NotFound, PermissionDenied, Internal  the message names the program or the
//                                         folder and has the system's error
absl::StatusOr<pid_t> StartSubprocess(const SubprocessPlan& plan);

// Sets every signal to its default action, except those in `ignored` (bit n -
// 1: signal n), which are set to ignored. Async-signal-safe.
void ResetSignals(uint64_t ignored);

// Returns the environment `inherited`, changed by `changes` (NAME=VALUE) and
// `unset` (names). The variables that `changes` or `unset` name are removed;
// the rest keeps its order. Then `changes` is appended. If `changes` has a name
// twice, the last one counts. Pure.
std::vector<std::string> MergeEnvironment(
    const std::vector<std::string>& inherited,
    const std::vector<std::string>& changes,
    const std::vector<std::string>& unset);

// MergeEnvironment for the environment of this process. Not to be called while
// another thread changes the environment.
std::vector<std::string> EnvironmentWith(
    const std::vector<std::string>& changes,
    const std::vector<std::string>& unset = {});

// Returns a close-on-exec descriptor that is readable once process `pid` has
// exited. The result owns no descriptor if there is no such process (ESRCH), or
// if the kernel is older than 5.3.
OwnedFd OpenPidFd(pid_t pid);

// Waits, without reaping, until the child `pid` has ended, or another part of
// this process has reaped it. Returns false at `deadline`, or as soon as
// `cancel_fd` is readable (-1: none).
bool AwaitSubprocess(pid_t pid, Instant deadline, int cancel_fd = -1);

// Waits for the end of the child `pid` and reaps it. Returns its wait status;
// nullopt if another part of this process has reaped it.
std::optional<int> ReapSubprocess(pid_t pid);

// The exit code of a wait status. After signal n it is 128 + n, as in shells.
int ExitCodeOf(int wait_status);

}  // namespace muster

#endif  // MUSTER_BASE_SUBPROCESS_H_
