#ifndef MUSTER_AGENT_HEALTH_NCCL_VARIABLES_H_
#define MUSTER_AGENT_HEALTH_NCCL_VARIABLES_H_

#include <string>

namespace muster::agent {

// The NCCL variable that the user probably meant by `name`. Empty if `name` is
// a variable of NCCL or one of its plug-ins, or if no variable has a similar
// name. Pure.
std::string MeantNcclVariable(const std::string& name);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_NCCL_VARIABLES_H_
