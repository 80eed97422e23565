#ifndef MUSTER_AGENT_WORKERS_AGENTS_VARIABLES_H_
#define MUSTER_AGENT_WORKERS_AGENTS_VARIABLES_H_

#include <string>

namespace muster::agent {

// Whether WorkerEnvironment sets the variable `name` itself and ignores its
// value in a configuration file or the agent's environment. Pure.
bool IsSetByAgent(const std::string& name);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_WORKERS_AGENTS_VARIABLES_H_
