#ifndef MUSTER_AGENT_HEALTH_READ_NETWORK_H_
#define MUSTER_AGENT_HEALTH_READ_NETWORK_H_

#include <string>
#include <vector>

#include "agent/health/node_facts.h"
#include "base/time.h"

namespace muster::agent {

// Names, interfaces, fabric and ports. `ports` are tried: each is listened at
// for a moment. Names are looked up until `deadline`.
NetworkFacts ReadNetwork(const std::string& root, const std::vector<int>& ports,
                         Instant deadline);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_READ_NETWORK_H_
