#ifndef MUSTER_AGENT_WORKERS_FRAMEWORK_ENV_H_
#define MUSTER_AGENT_WORKERS_FRAMEWORK_ENV_H_

namespace muster::agent {

// Other launchers' variables that workers may find besides torchrun's.
enum class FrameworkEnv { kTensorFlow, kJax, kMpi, kDeepSpeed, kAccelerate };

}  // namespace muster::agent

#endif  // MUSTER_AGENT_WORKERS_FRAMEWORK_ENV_H_
