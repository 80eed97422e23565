#ifndef MUSTER_AGENT_FRAMEWORK_ENV_FRAMEWORK_COMMAND_H_
#define MUSTER_AGENT_FRAMEWORK_ENV_FRAMEWORK_COMMAND_H_

#include <string>
#include <vector>

#include "agent/workers/framework_variables.h"

namespace muster::agent {

inline constexpr char kFrameworkArgument[] = "--framework-process";
inline constexpr char kTensorFlowWord[] = "tf";
inline constexpr char kJaxWord[] = "jax";

// The command line that starts `command` through a framework process: this
// program, which prepares the worker for TensorFlow or JAX and then executes
// `command` (framework_process.h). If none of `framework_envs` needs a
// framework process, the result is `command`. Pure.
std::vector<std::string> WithFrameworkProcess(
    const std::vector<FrameworkEnv>& framework_envs,
    std::vector<std::string> command);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FRAMEWORK_ENV_FRAMEWORK_COMMAND_H_
