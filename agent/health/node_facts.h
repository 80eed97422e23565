#ifndef MUSTER_AGENT_HEALTH_NODE_FACTS_H_
#define MUSTER_AGENT_HEALTH_NODE_FACTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/gpus/gpu_facts.h"
#include "base/time.h"

namespace muster::agent {

// What readers find on a node, before anybody judges it. nullopt and empty: not
// there, or not to be read by this user.

// The software below a training script.
struct LibraryFacts {
  std::string kernel_driver;        // NVIDIA's kernel module: "550.54.15"
  std::optional<int> runtime_cuda;  // the toolkit's libcudart: 12040 is 12.4
  std::string toolkit_nccl;         // "2.21.5", of libnccl.so.2
  std::string torch_version;        // PyTorch beside the Python in PATH
  std::string torch_cuda;           // what it is built for: "12.4"; or empty
  std::string torch_nccl;           // the nvidia-nccl package beside it
};

// A line of the kernel's log in which the driver reports a GPU's error.
struct XidEvent {
  std::string pci_address;  // "0000:3b:00"
  int xid = 0;
  Duration ago;
};

// What lies between a GPU and its root port.
struct PciPath {
  std::string pci_address;  // of the GPU
  // Bridges above it whose access control sends traffic between two devices
  // through the root complex.
  std::vector<std::string> redirecting;
};

struct GpuSurroundings {
  std::vector<XidEvent> xids;  // the newest last; at most 64
  std::optional<bool> kernel_log_read;
  std::vector<PciPath> paths;
  int visible_devices = 0;  // /dev/nvidia0, …
};

struct Interface {
  std::string name;
  bool up = false;
  bool loopback = false;
  std::vector<std::string> addresses;
};

struct FabricPort {
  std::string device;  // "mlx5_0"
  int port = 1;
  std::string state;  // "ACTIVE", "DOWN"
  std::string layer;  // "InfiniBand", "Ethernet"
};

struct PortUse {
  int port = 0;
  std::string error;  // why it cannot be listened at; empty: it is free
};

struct NetworkFacts {
  std::string host_name;
  // What the own name resolves to; `forward_error` says why it does not.
  std::vector<std::string> forward;
  std::string forward_error;
  // By own outward address, the name that it resolves to; empty: to none.
  std::map<std::string, std::string> reverse;
  std::string outward_address;
  std::vector<Interface> interfaces;
  std::vector<FabricPort> fabric;
  std::vector<PortUse> ports;
  int ephemeral_first = 0;
  int ephemeral_last = 0;
};

// The purpose of the one folder that `launch` makes where it is not there.
inline constexpr char kLogsPurpose[] = "logs";
// The purpose of the one folder that need not take files.
inline constexpr char kWorkingPurpose[] = "working folder";

struct FolderFacts {
  std::string purpose;  // "logs", "temporary files"
  std::string path;     // as asked for
  // Where that is not there: the nearest folder above it, whose facts these
  // are; else empty.
  std::string above;
  std::string error;  // no such folder, no answer, …
  bool writable = false;
  bool read_only = false;  // the file system is, or its mount
  // The mount alone is: somebody asked for it, as of a container's root. (After
  // errors the kernel makes the file system itself read-only.)
  bool mounted_read_only = false;
  int64_t total = 0;  // bytes
  int64_t free = 0;   // bytes that this user may take
  int64_t files = 0;  // 0: the file system does not count them
  int64_t files_free = 0;
};

struct HostFacts {
  std::string kernel;      // "6.1.0-18-amd64"
  int cores = 0;           // online
  int own_cores = 0;       // that this process may run on
  double quota_cores = 0;  // of its control group; 0: no limit
  int64_t memory = 0;      // bytes
  int64_t memory_available = 0;
  int64_t memory_limit = 0;   // of its control group; 0: no limit
  int64_t memory_in_use = 0;  // in it; 0: not known
  int64_t swap_used = 0;
  std::optional<FolderFacts> shm;
  int64_t open_files = 0;  // limits; -1: none
  int64_t max_open_files = 0;
  int64_t processes = 0;
  int64_t locked_memory = 0;
  std::string governor;  // "performance"; of the first core
  std::optional<bool> clock_synchronised;
};

// What becomes of a call at the coordinator.
struct CoordinatorFacts {
  std::string endpoint;
  std::string error;  // why there is no answer
  std::vector<std::string> addresses;
  std::string local_address;  // from which this node speaks to it
  std::string seen_address;   // whom it sees; empty: it is too old to tell
  // Where peers of a job dial this node; empty: it is in none.
  std::string advertised_address;
  bool wants_token = false;  // it answers those alone who show the job's token
  // Why the token that was given opens nothing: it cannot be read, or is wrong.
  std::string token_error;
  std::string version;
  std::optional<Duration> clock_ahead;  // its wall clock before ours
  Duration round_trip = Duration::zero();
};

struct NodeFacts {
  std::string version;  // ours
  std::map<std::string, std::string> environment;
  GpuFacts gpus;
  int gpus_needed = 0;  // by a job's workers; 0: not known
  GpuSurroundings surroundings;
  LibraryFacts libraries;
  NetworkFacts network;
  HostFacts host;
  std::vector<FolderFacts> folders;
  std::optional<CoordinatorFacts> coordinator;  // where one was named
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_NODE_FACTS_H_
