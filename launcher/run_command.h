#ifndef MUSTER_LAUNCHER_RUN_COMMAND_H_
#define MUSTER_LAUNCHER_RUN_COMMAND_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// Says why nothing was started; the exit code for it (Voice::Refuse).
using Refusal = std::function<int(const absl::Status& why)>;

// `launch PROGRAM`: runs this node's part of the job, and the coordinator
// where this node hosts it. `name`: what messages begin with. The exit code.
// Call while the process has one thread.
int RunCommand(const std::string& name, const RunOptions& options,
               const std::map<std::string, std::string>& environment,
               const Refusal& refuse);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_RUN_COMMAND_H_
