#ifndef MUSTER_AGENT_HEALTH_READ_NODE_H_
#define MUSTER_AGENT_HEALTH_READ_NODE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/health/node_facts.h"
#include "agent/health/read_libraries.h"
#include "base/time.h"

namespace muster::agent {

// The paths, libraries and ports that ReadNode examines. Tests give paths of a
// simulated machine.
struct NodePaths {
  std::string root = "/";
  std::string nvml_library = "libnvidia-ml.so.1";
  LibraryPaths libraries;
  std::map<std::string, std::string> environment;
  // Folders to examine, as pairs of purpose and path.
  std::vector<std::pair<std::string, std::string>> folders;
  std::vector<int> ports = {29400, 29500};
  // Time limits of ReadNode. `gpu_timeout`: for the driver to list its GPUs,
  // which takes seconds without persistence mode. `timeout`: for each other
  // read that may hang, such as that of a folder on a network file system.
  Duration gpu_timeout = std::chrono::seconds(30);
  Duration timeout = std::chrono::seconds(5);
};

// Reads the facts about this node. Does not connect to a coordinator. Returns
// even if the driver or a file system hangs: each part that may hang has a time
// limit.
NodeFacts ReadNode(const NodePaths& paths);

// Reads only the facts about the GPUs. The state is kHung if the driver has not
// answered by `deadline`.
GpuFacts ReadGpusBy(Instant deadline, const std::string& nvml_library);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_READ_NODE_H_
