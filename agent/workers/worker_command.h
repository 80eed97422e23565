#ifndef MUSTER_AGENT_WORKERS_WORKER_COMMAND_H_
#define MUSTER_AGENT_WORKERS_WORKER_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::agent {

// What the user asked to be run.
struct CommandRequest {
  std::string program;  // a script, a module's name or an executable
  std::vector<std::string> arguments;
  bool is_python = false;  // --python: a script whatever its name
  bool is_module = false;  // -m, --module
  bool no_python = false;  // --no-python
  bool run_path = false;   // --run-path
  std::string python;      // $PYTHON_EXEC; empty: python3
};

// The argv of each worker. Pure.
//
// A program whose name ends in ".py", and a module, run under Python,
// unbuffered (-u); anything else is executed as it is, and so is everything
// with --no-python. --run-path runs a file of any name in an interpreter by
// runpy.run_path, as __main__.
//
// InvalidArgument: no program; options that contradict each other.
absl::StatusOr<std::vector<std::string>> WorkerCommand(
    const CommandRequest& request);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_WORKERS_WORKER_COMMAND_H_
