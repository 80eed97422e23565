#ifndef MUSTER_AGENT_HEALTH_READ_SURROUNDINGS_H_
#define MUSTER_AGENT_HEALTH_READ_SURROUNDINGS_H_

#include <string>
#include <vector>

#include "agent/health/node_facts.h"

namespace muster::agent {

// Reads facts that the kernel knows about the GPUs at `pci_addresses`
// ("0000:3b:00.0"): errors in the kernel log, bridges, device files. Does not
// block.
GpuSurroundings ReadSurroundings(const std::string& root,
                                 const std::vector<std::string>& pci_addresses);

// Parses the GPU errors (Xids) in `log`, the text of /dev/kmsg. `now`: the
// uptime of the machine when `log` was read. Pure.
std::vector<XidEvent> ParseXids(const std::string& log, Duration now);

// Whether a bridge with this PCI configuration space redirects traffic between
// two devices below it to the root complex. Pure.
bool RedirectsPeers(const std::string& configuration);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_READ_SURROUNDINGS_H_
