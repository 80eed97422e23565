#include "agent/workers/worker_command.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

// A Python program for --run-path. The user's program and arguments are
// arguments of the interpreter. Program and arguments are never inserted into
// this text, so Python does not interpret them.
constexpr char kRunPath[] =
    "import runpy, sys; del sys.argv[0]; "
    "runpy.run_path(sys.argv[0], run_name='__main__')";

}  // namespace

absl::StatusOr<std::vector<std::string>> WorkerCommand(
    const CommandRequest& request) {
  if (request.program.empty()) {
    return absl::InvalidArgumentError(
        "nothing to run: give a script, a module (-m) or an executable");
  }
  if (request.is_module && request.no_python) {
    return absl::InvalidArgumentError(
        "--module and --no-python exclude each other: a module is run by "
        "Python");
  }
  if (request.run_path && request.no_python) {
    return absl::InvalidArgumentError(
        "--run-path and --no-python exclude each other: runpy is Python's");
  }
  if (request.run_path && request.is_module) {
    return absl::InvalidArgumentError(
        "--run-path and --module exclude each other: give a file or a module's "
        "name");
  }

  const bool is_script =
      request.is_python ||
      (request.program.ends_with(".py") && !request.no_python);
  std::vector<std::string> argv;
  if (is_script || request.is_module || request.run_path) {
    argv = {request.python.empty() ? "python3" : request.python, "-u"};
    if (request.run_path) argv.insert(argv.end(), {"-c", kRunPath});
    if (request.is_module) argv.push_back("-m");
  }
  argv.push_back(request.program);
  argv.insert(argv.end(), request.arguments.begin(), request.arguments.end());
  return argv;
}

std::vector<std::string> WithFrameworkProcess(
    const std::vector<FrameworkEnv>& framework_envs,
    std::vector<std::string> command) {
  std::string needed;
  for (const auto& [framework, name] :
       {std::pair(FrameworkEnv::kTensorFlow, kTensorFlowWord),
        std::pair(FrameworkEnv::kJax, kJaxWord)}) {
    if (std::find(framework_envs.begin(), framework_envs.end(), framework) !=
        framework_envs.end()) {
      absl::StrAppend(&needed, needed.empty() ? "" : ",", name);
    }
  }
  if (needed.empty()) return command;
  command.insert(command.begin(),
                 {"/proc/self/exe", kFrameworkArgument, needed});
  return command;
}

}  // namespace muster::agent
