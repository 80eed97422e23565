#ifndef MUSTER_LAUNCHER_RUN_COMMAND_H_
#define MUSTER_LAUNCHER_RUN_COMMAND_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// Function that prints `why`, the reason why the job was not started, and
// returns the exit code of this program.
using Refusal = std::function<int(const absl::Status& why)>;

// Implements `launch PROGRAM`: runs this node's part of the job and, on the
// hosting node, the coordinator. `name`: prefix of the messages. Returns the
// exit code. Must be called while the process has one thread.
int RunCommand(const std::string& name, const RunOptions& options,
               const std::map<std::string, std::string>& environment,
               const Refusal& refuse);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_RUN_COMMAND_H_
