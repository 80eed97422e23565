#ifndef MUSTER_AGENT_HEALTH_READ_NETWORK_H_
#define MUSTER_AGENT_HEALTH_READ_NETWORK_H_

#include <string>
#include <vector>

#include "agent/health/node_facts.h"
#include "base/time.h"

namespace muster::agent {

// Reads this host's names, interfaces, InfiniBand ports and TCP ports. Listens
// on each of `ports` for a moment to see whether it is free. Names are resolved
// until `deadline`.
NetworkFacts ReadNetwork(const std::string& root, const std::vector<int>& ports,
                         Instant deadline);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_READ_NETWORK_H_
