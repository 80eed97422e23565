#ifndef MUSTER_AGENT_FITNESS_READ_NODE_H_
#define MUSTER_AGENT_FITNESS_READ_NODE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/fitness/node_facts.h"
#include "agent/fitness/read_libraries.h"
#include "base/time.h"

namespace muster::agent {

// What is looked at, and where; another machine in tests.
struct NodePlaces {
  std::string root = "/";
  std::string nvml_library = "libnvidia-ml.so.1";
  LibraryPlaces libraries;
  std::map<std::string, std::string> environment;
  // Purpose and path.
  std::vector<std::pair<std::string, std::string>> folders;
  std::vector<int> ports = {29400, 29500};
  // How long the driver may take to tell of its GPUs (seconds without
  // persistence mode), and each other thing that may not answer.
  Duration gpu_patience = std::chrono::seconds(30);
  Duration patience = std::chrono::seconds(5);
};

// Everything about this node but its coordinator, whatever hangs.
NodeFacts ReadNode(const NodePlaces& places);

// The GPUs alone; State::kHung if the driver has not answered by then.
GpuFacts ReadGpusBy(Instant deadline, const std::string& nvml_library);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FITNESS_READ_NODE_H_
