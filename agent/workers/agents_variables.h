#ifndef MUSTER_AGENT_WORKERS_AGENTS_VARIABLES_H_
#define MUSTER_AGENT_WORKERS_AGENTS_VARIABLES_H_

#include <string>

namespace muster::agent {

// Whether the agent alone says what a worker finds in the variable `name`:
// WorkerEnvironment sets it whatever a configuration file or the agent's own
// environment says. Pure.
bool IsSetByAgent(const std::string& name);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_WORKERS_AGENTS_VARIABLES_H_
