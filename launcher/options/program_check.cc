#include "launcher/options/program_check.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/environment_value.h"
#include "launcher/options/option_values.h"

namespace muster::launcher {
namespace {

bool EndsInPy(const std::string& name) {
  return name.size() > 3 && name.compare(name.size() - 3, 3, ".py") == 0;
}

bool RunsUnderPython(const RunOptions& options) {
  switch (options.interpreter) {
    case Interpreter::kPython:
    case Interpreter::kModule:
    case Interpreter::kRunPath:
      return true;
    case Interpreter::kNoPython:
      return false;
    case Interpreter::kByName:
      return EndsInPy(options.program[0]);
  }
  return false;
}

absl::Status CheckExecutable(const std::string& path,
                             const std::string& written) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    return absl::NotFoundError(absl::StrCat(written, ": ", strerror(errno),
                                            "; name a program that exists"));
  }
  if (S_ISDIR(info.st_mode)) {
    return absl::PermissionDeniedError(
        absl::StrCat(written, ": is a folder; name a program"));
  }
  if (access(path.c_str(), X_OK) != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat(written, ": is not executable (", strerror(errno),
                     "); make it so with chmod +x"));
  }
  return absl::OkStatus();
}

absl::Status CheckInPath(const std::string& name, const std::string& path) {
  absl::Status found;
  size_t start = 0;
  while (start <= path.size()) {
    const size_t colon = std::min(path.find(':', start), path.size());
    std::string folder = path.substr(start, colon - start);
    if (folder.empty()) folder = ".";
    const std::string full = absl::StrCat(folder, "/", name);
    struct stat info;
    if (stat(full.c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
      absl::Status status = CheckExecutable(full, full);
      if (status.ok()) return status;
      if (found.ok()) found = status;
    }
    start = colon + 1;
  }
  if (!found.ok()) return found;
  struct stat info;
  return absl::NotFoundError(absl::StrCat(
      name, ": there is no such program in PATH; ",
      stat(name.c_str(), &info) == 0
          ? absl::StrCat("write ./", name, " for the file in this folder")
          : std::string("name a program that exists")));
}

absl::Status CheckScript(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": ", strerror(errno), "; name a script that exists"));
  }
  if (!S_ISDIR(info.st_mode) && access(path.c_str(), R_OK) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": cannot be read (", strerror(errno), ")"));
  }
  return absl::OkStatus();
}

absl::Status CheckCommandName(const std::string& name,
                              const MachineFacts& facts) {
  if (name.empty()) {
    return absl::InvalidArgumentError(
        "the program's name is empty; name the script or program after the "
        "flags");
  }
  if (name.find('/') != std::string::npos) return CheckExecutable(name, name);
  return CheckInPath(name, SearchPath(facts.environment));
}

// Number of threads and descriptors that an agent needs, rounded up. Measured
// with a coordinator in the same process: 15 threads and 34 descriptors with
// one worker, and 5 descriptors for each further worker.
constexpr int kThreads = 17;
constexpr int kDescriptors = 42;
constexpr int kDescriptorsOfAWorker = 6;
constexpr int kThreadsOfAJournal = 2;
constexpr int kDescriptorsOfAJournal = 4;
// Threads and descriptors that an agent needs in addition if its process takes
// over as coordinator, measured and rounded up.
constexpr int kThreadsOfATakeover = 3;
constexpr int kDescriptorsOfATakeover = 6;

// The number of workers for which the limits of the process are checked: as
// many as the options give, but at most kMaxTried. "gpu", "cpu" and "auto"
// count as one worker. If the limits do not suffice for all workers, a later
// system call fails and reports the error.
int AskedWorkers(const RunOptions& options) {
  constexpr int kMaxTried = 64;
  const absl::StatusOr<int64_t> number =
      ReadNumber(options.workers_per_node, 1, 4096);
  return static_cast<int>(std::min<int64_t>(number.value_or(1), kMaxTried));
}

}  // namespace

absl::Status CheckProgram(const RunOptions& options,
                          const MachineFacts& facts) {
  if (!RunsUnderPython(options)) {
    return CheckCommandName(options.program[0], facts);
  }
  const std::string python =
      EnvironmentValue(facts.environment, "PYTHON_EXEC").value_or("");
  if (!python.empty()) {
    const absl::Status status = CheckCommandName(python, facts);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("PYTHON_EXEC=", status.message()));
    }
  } else if (facts.python.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.program[0],
                     ": needs Python, and there is neither python3 nor python "
                     "in PATH; set PYTHON_EXEC"));
  }
  // A module is not checked, because only Python can find it.
  if (options.interpreter == Interpreter::kModule) return absl::OkStatus();
  return CheckScript(options.program[0]);
}

ResourceNeed RoomNeededFor(const RunOptions& options) {
  const int workers = AskedWorkers(options);
  const bool keeps_state = !options.state_dir.empty();
  const bool takes_over = IsTakenOver(options);
  return {.threads = kThreads + 1 + workers +
                     (keeps_state ? kThreadsOfAJournal : 0) +
                     (takes_over ? kThreadsOfATakeover : 0),
          .descriptors = kDescriptors + kDescriptorsOfAWorker * workers +
                         (keeps_state ? kDescriptorsOfAJournal : 0) +
                         (takes_over ? kDescriptorsOfATakeover : 0)};
}

}  // namespace muster::launcher
