#ifndef MUSTER_AGENT_HEALTH_READ_LIBRARIES_H_
#define MUSTER_AGENT_HEALTH_READ_LIBRARIES_H_

#include <map>
#include <string>
#include <vector>

#include "agent/health/node_facts.h"

namespace muster::agent {

struct LibraryPaths {
  std::string root = "/";
  // Names of the CUDA runtime library; the first one that can be loaded is
  // used.
  std::vector<std::string> cuda_runtimes = {
      "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};
  std::string nccl = "libnccl.so.2";
};

// Reads the versions of driver, CUDA runtime, NCCL and PyTorch. Loads the CUDA
// runtime and NCCL. Reads a few small files of the Python installation that
// PATH, VIRTUAL_ENV or CONDA_PREFIX in `environment` gives. Runs no program.
LibraryFacts ReadLibraries(
    const LibraryPaths& paths,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_READ_LIBRARIES_H_
