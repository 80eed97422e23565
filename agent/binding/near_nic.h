#ifndef MUSTER_AGENT_BINDING_NEAR_NIC_H_
#define MUSTER_AGENT_BINDING_NEAR_NIC_H_

#include <string>
#include <vector>

#include "agent/binding/machine_layout.h"

namespace muster::agent {

// The one of `nics` that shares the most bridges with `device`, and at least
// the host's; InfiniBand devices before network interfaces, since they carry
// the same card's traffic faster. Empty where two are equally near, or none is:
// a guess would be worse than what the communication library finds itself.
// Pure.
std::string NearNic(const PciDevice& device, const std::vector<Nic>& nics);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_NEAR_NIC_H_
