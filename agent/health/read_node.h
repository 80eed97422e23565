#ifndef MUSTER_AGENT_HEALTH_READ_NODE_H_
#define MUSTER_AGENT_HEALTH_READ_NODE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/health/node_facts.h"
#include "base/time.h"

namespace muster::agent {

// The folders and libraries whose versions ReadLibraries reads.
struct LibraryPaths {
  std::string root = "/";
  // Names of the CUDA runtime library; the first one that can be loaded is
  // used.
  std::vector<std::string> cuda_runtimes = {
      "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};
  std::string nccl = "libnccl.so.2";
};

// The paths, libraries and ports that ReadNode examines. Tests give paths of
// a simulated machine.
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
// even if the driver or a file system hangs: each part that may hang has a
// time limit.
NodeFacts ReadNode(const NodePaths& paths);

// Reads only the facts about the GPUs. The state is kHung if the driver has
// not answered by `deadline`.
GpuFacts ReadGpusBy(Instant deadline, const std::string& nvml_library);

// Reads cores, memory, limits and clock from /proc and /sys below `root` and
// from the kernel. Does not block.
HostFacts ReadHost(const std::string& root);

// Reads the free space of a folder's file system, and whether the folder can
// be written. If the folder does not exist, its nearest existing parent is
// examined instead. A file system that does not answer by `deadline` is
// reported as an error.
FolderFacts ReadFolder(const std::string& purpose, const std::string& path,
                       Instant deadline);

// Whether the file system in this line of /proc/PID/mountinfo is writable,
// whatever the options of the mount.
bool IsWritableByMountInfo(const std::string& line);

// Reads this host's names, interfaces, InfiniBand ports and TCP ports.
// Listens on each of `ports` for a moment to see whether it is free. Names
// are resolved until `deadline`.
NetworkFacts ReadNetwork(const std::string& root, const std::vector<int>& ports,
                         Instant deadline);

// Reads the versions of driver, CUDA runtime, NCCL and PyTorch. Loads the CUDA
// runtime and NCCL. Reads a few small files of the Python installation that
// PATH, VIRTUAL_ENV or CONDA_PREFIX in `environment` gives. Runs no program.
LibraryFacts ReadLibraries(
    const LibraryPaths& paths,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_READ_NODE_H_
