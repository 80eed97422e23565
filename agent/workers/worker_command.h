#ifndef MUSTER_AGENT_WORKERS_WORKER_COMMAND_H_
#define MUSTER_AGENT_WORKERS_WORKER_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/workers/worker_environment.h"

namespace muster::agent {

// The program that the user asked to run.
struct CommandRequest {
  // path of a script, name of a module or path of an executable
  std::string program;
  std::vector<std::string> arguments;
  // --python: the program is a Python script, whatever its name
  bool is_python = false;
  // -m, --module: the program is the name of a Python module
  bool is_module = false;
  bool no_python = false;  // --no-python: the program is executed directly
  // --run-path: the program is a file that Python runs by runpy.run_path
  bool run_path = false;
  std::string python;  // value of $PYTHON_EXEC; empty: python3
};

// Returns the argv of each worker. Pure.
//
// A program whose name ends in ".py", or a module, runs under Python,
// unbuffered (-u). Any other program is executed directly. With --no-python
// every program is executed directly. --run-path runs a file of any name by
// runpy.run_path, as __main__.
//
// InvalidArgument: no program, or contradictory options.
absl::StatusOr<std::vector<std::string>> WorkerCommand(
    const CommandRequest& request);

// Arguments of a framework process: the first one, and the names of frameworks
// in the second one.
inline constexpr char kFrameworkArgument[] = "--framework-process";
inline constexpr char kTensorFlowWord[] = "tf";
inline constexpr char kJaxWord[] = "jax";

// The command line that starts `command` through a framework process: this
// program, which prepares the worker for TensorFlow or JAX and then executes
// `command` (agent/framework_env/framework_process.h). If none of
// `framework_envs` needs a framework process, the result is `command`. Pure.
std::vector<std::string> WithFrameworkProcess(
    const std::vector<FrameworkEnv>& framework_envs,
    std::vector<std::string> command);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_WORKERS_WORKER_COMMAND_H_
