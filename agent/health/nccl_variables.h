#ifndef MUSTER_AGENT_HEALTH_NCCL_VARIABLES_H_
#define MUSTER_AGENT_HEALTH_NCCL_VARIABLES_H_

#include <string>
#include <vector>

namespace muster::agent {

// The NCCL variable that the user probably meant by `name`. Empty if `name` is
// a variable of NCCL or one of its plug-ins, or if no variable has a similar
// name. Pure.
std::string MeantNcclVariable(const std::string& name);

// A list of network interfaces or devices in NCCL's syntax (NCCL_SOCKET_IFNAME,
// NCCL_IB_HCA): names separated by commas, each a prefix. A leading "=" makes
// the names exact, a leading "^" (before "=") selects all others, and a
// trailing ":N" selects a device's port.
struct InterfaceList {
  bool all_but = false;
  bool exact = false;
  std::vector<std::string> names;  // interface or device names, without ":PORT"
};
InterfaceList ParseInterfaceList(const std::string& text);

// The names in `present` that the list selects; all names if the list is empty.
std::vector<std::string> Chosen(const InterfaceList& list,
                                const std::vector<std::string>& present);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_NCCL_VARIABLES_H_
