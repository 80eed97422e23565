#ifndef MUSTER_AGENT_HEALTH_NCCL_VARIABLES_H_
#define MUSTER_AGENT_HEALTH_NCCL_VARIABLES_H_

#include <string>

namespace muster::agent {

// The variable of NCCL that a person who wrote `name` most likely meant; empty
// where NCCL or a plug-in of it reads `name`, or nothing is close. Pure.
std::string MeantNcclVariable(const std::string& name);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_NCCL_VARIABLES_H_
