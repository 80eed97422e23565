#ifndef MUSTER_AGENT_WORKERS_FRAMEWORK_ENV_H_
#define MUSTER_AGENT_WORKERS_FRAMEWORK_ENV_H_

namespace muster::agent {

// Launchers and frameworks whose variables workers can get in addition to
// torchrun's.
enum class FrameworkEnv { kTensorFlow, kJax, kMpi, kDeepSpeed, kAccelerate };

}  // namespace muster::agent

#endif  // MUSTER_AGENT_WORKERS_FRAMEWORK_ENV_H_
