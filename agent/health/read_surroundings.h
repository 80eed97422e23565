#ifndef MUSTER_AGENT_HEALTH_READ_SURROUNDINGS_H_
#define MUSTER_AGENT_HEALTH_READ_SURROUNDINGS_H_

#include <string>
#include <vector>

#include "agent/health/node_facts.h"

namespace muster::agent {

// What the kernel knows of the GPUs at `pci_addresses` ("0000:3b:00.0") beside
// their own library: errors in its log, bridges above them, device files.
// Never waits.
GpuSurroundings ReadSurroundings(const std::string& root,
                                 const std::vector<std::string>& pci_addresses);

// The errors of GPUs in text of /dev/kmsg, `now` after the machine's start.
// Pure.
std::vector<XidEvent> ParseXids(const std::string& log, Duration now);

// Whether a bridge with this configuration space sends what one device below
// it writes to another up through the root complex. Pure.
bool RedirectsPeers(const std::string& configuration);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_READ_SURROUNDINGS_H_
