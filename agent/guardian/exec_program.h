#ifndef MUSTER_AGENT_GUARDIAN_EXEC_PROGRAM_H_
#define MUSTER_AGENT_GUARDIAN_EXEC_PROGRAM_H_

#include <string>
#include <vector>

namespace muster::agent {

// Which step of a process's start failed, on what, with which errno.
struct StartFailure {
  // "fork", "pipe", "stdin", "stdout", "stderr", "terminal", "chdir", "bind"
  // (`path` is a list of CPUs), "exec"; "interpreter": the script is there and
  // the program that its #! line names is not; "loader": the program is there
  // and the dynamic loader that it names is not.
  std::string step;
  std::string path;
  int error = 0;
};

// Replaces this process. argv[0] without a slash is looked up in the PATH of
// `environment` as execvp(3) does, but a file that is no program (ENOEXEC) is
// never handed to a shell, and a directory is told as EISDIR. Returns only if
// that failed. Not async-signal-safe: for a child of a single-threaded process.
StartFailure ExecProgram(const std::vector<std::string>& argv,
                         const std::vector<std::string>& environment);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_EXEC_PROGRAM_H_
