#ifndef MUSTER_AGENT_BINDING_NEAR_NIC_H_
#define MUSTER_AGENT_BINDING_NEAR_NIC_H_

#include <string>
#include <vector>

#include "agent/binding/machine_layout.h"

namespace muster::agent {

// The NIC in `nics` that shares the most bridges with `device`, at least the
// host bridge. InfiniBand devices precede network interfaces, because they
// carry the same card's traffic faster. Empty if there is none, or two are
// equally near: the communication library then chooses better than a guess.
// Pure.
std::string NearNic(const PciDevice& device, const std::vector<Nic>& nics);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_NEAR_NIC_H_
