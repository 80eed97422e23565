#ifndef MUSTER_LAUNCHER_RUN_COMMAND_H_
#define MUSTER_LAUNCHER_RUN_COMMAND_H_

#include <map>
#include <string>

#include "agent/options/run_options.h"

namespace muster {

// `launch PROGRAM`: runs this node's part of the job, and the coordinator
// where this node hosts it. The exit code. Call while the process has one
// thread.
int RunCommand(const RunOptions& options,
               const std::map<std::string, std::string>& environment);

}  // namespace muster

#endif  // MUSTER_LAUNCHER_RUN_COMMAND_H_
