#ifndef MUSTER_AGENT_HEALTH_INTERFACE_LIST_H_
#define MUSTER_AGENT_HEALTH_INTERFACE_LIST_H_

#include <string>
#include <vector>

namespace muster::agent {

// NCCL's way to name network interfaces and devices (NCCL_SOCKET_IFNAME,
// NCCL_IB_HCA): names separated by commas, each a prefix; "=" in front: exact
// names; "^" in front (of "=", too): all but these; ":N" behind a device: its
// port. Pure.
struct InterfaceList {
  bool all_but = false;
  bool exact = false;
  std::vector<std::string> names;  // without ports
};
InterfaceList ParseInterfaceList(const std::string& text);

// Those of `present` that the list leaves; all, if it names none.
std::vector<std::string> Chosen(const InterfaceList& list,
                                const std::vector<std::string>& present);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_INTERFACE_LIST_H_
