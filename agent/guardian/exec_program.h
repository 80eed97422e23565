#ifndef MUSTER_AGENT_GUARDIAN_EXEC_PROGRAM_H_
#define MUSTER_AGENT_GUARDIAN_EXEC_PROGRAM_H_

#include <string>
#include <string_view>
#include <vector>

namespace muster::agent {

// The value of the variable `name` in `environment`, or nullptr. The pointer is
// valid as long as `environment`.
const char* FindInEnvironment(const std::vector<std::string>& environment,
                              std::string_view name);

// The step of a process's start that failed, the path concerned, and errno.
struct StartFailure {
  // The name of the failed step: "fork", "pipe", "stdin", "stdout", "stderr",
  // "terminal", "chdir", "bind" (`path` is a list of CPUs), "exec";
  // "interpreter" if the script exists but the program of its #! line does not;
  // "loader" if the program exists but its dynamic loader does not.
  std::string step;
  std::string path;
  int error = 0;
};

// Replaces this process by the program. argv[0] without a slash is searched in
// the PATH of `environment` as by execvp(3), with two differences. A file with
// an unknown format (ENOEXEC) is not passed to a shell, and a directory fails
// with EISDIR. Returns only on failure. Not async-signal-safe: only for a child
// of a single-threaded process.
StartFailure ExecProgram(const std::vector<std::string>& argv,
                         const std::vector<std::string>& environment);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_EXEC_PROGRAM_H_
