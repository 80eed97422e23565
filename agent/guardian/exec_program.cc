#include "agent/guardian/exec_program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/environment_value.h"
#include "base/owned_fd.h"
#include "base/subprocess.h"

namespace muster::agent {
const char* FindInEnvironment(const std::vector<std::string>& environment,
                              std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.starts_with(name) && entry.size() > name.size() &&
        entry[name.size()] == '=') {
      return entry.c_str() + name.size() + 1;
    }
  }
  return nullptr;
}

namespace {

// The paths at which to look for the program, in order. An empty entry of PATH
// means the working directory.
std::vector<std::string> Candidates(const std::string& program,
                                    const char* path) {
  if (program.find('/') != std::string::npos) return {program};
  std::vector<std::string> candidates;
  const std::string folders = path == nullptr ? DefaultSearchPath() : path;
  std::string_view rest = folders;
  while (true) {
    const size_t end = rest.find(':');
    std::string candidate(rest.substr(0, end));
    if (!candidate.empty()) candidate += '/';
    candidates.push_back(candidate.append(program));
    if (end == std::string_view::npos) return candidates;
    rest.remove_prefix(end + 1);
  }
}

// The interpreter that the #! line of the script at `path` names; empty if
// there is none.
std::string InterpreterOf(const std::string& path) {
  const OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char bytes[256];  // the number of bytes that the kernel reads of a #! line
  const ssize_t got = file.open() ? read(file.get(), bytes, sizeof bytes) : -1;
  std::string_view line(bytes, got > 0 ? static_cast<size_t>(got) : 0);
  if (line.substr(0, 2) != "#!") return "";
  line = line.substr(2, line.find('\n') - 2);
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  line = line.substr(begin);
  return std::string(line.substr(0, line.find_first_of(" \t")));
}

// Finds the reason why `path` could not be executed; execve's errno does not
// say which file was missing.
StartFailure Explain(const std::string& path, int error) {
  struct stat file = {};
  const bool exists = stat(path.c_str(), &file) == 0;
  if (exists && S_ISDIR(file.st_mode)) return {"exec", path, EISDIR};
  if (!exists || (error != ENOENT && error != EACCES)) {
    return {"exec", path, error};
  }
  const bool executable = access(path.c_str(), X_OK) == 0;
  const std::string interpreter = executable ? InterpreterOf(path) : "";
  if (!interpreter.empty()) return {"interpreter", interpreter, error};
  // For an existing program the kernel reports ENOENT if the program's dynamic
  // loader is missing.
  if (error == ENOENT) return {"loader", path, error};
  return {"exec", path, error};
}

}  // namespace

StartFailure ExecProgram(const std::vector<std::string>& argv,
                         const std::vector<std::string>& environment) {
  const std::vector<char*> arguments = ExecPointers(argv);
  const std::vector<char*> variables = ExecPointers(environment);
  const std::string& program = argv[0];
  if (program.empty()) return {"exec", program, ENOENT};
  const char* path = FindInEnvironment(environment, "PATH");
  StartFailure failure = {"exec", program, ENOENT};
  for (const std::string& candidate : Candidates(program, path)) {
    execve(candidate.c_str(), arguments.data(), variables.data());
    const int error = errno;
    StartFailure why = Explain(candidate, error);
    const bool here = program.find('/') != std::string::npos;
    const bool absent = (why.step == "exec" && error == ENOENT) ||
                        error == ENOTDIR || why.error == EISDIR;
    if (here || (!absent && error != EACCES)) return why;
    // A file without permission to execute (EACCES) does not end the search,
    // because a later directory of PATH may have an executable file of the same
    // name. Keep the failure of the first such file: if the search finds no
    // executable file, this failure is returned, because it says more than "not
    // found".
    if (error == EACCES && !absent && failure.error == ENOENT) failure = why;
  }
  return failure;
}

}  // namespace muster::agent
