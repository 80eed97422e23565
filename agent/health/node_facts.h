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

// The structs of this file contain facts about a node as they were read,
// without a judgement. A field is nullopt or empty if the described object does
// not exist, or if this user may not read the value.

// Versions of the software that a training script uses: NVIDIA's driver, CUDA,
// NCCL, PyTorch.
struct LibraryFacts {
  std::string kernel_driver;  // version of NVIDIA's kernel module: "550.54.15"
  // version of the toolkit's libcudart: 12040 is 12.4
  std::optional<int> runtime_cuda;
  std::string toolkit_nccl;   // version of libnccl.so.2: "2.21.5"
  std::string torch_version;  // version of PyTorch for the Python in PATH
  // CUDA version of the PyTorch in `torch_version`: "12.4"; empty: none
  std::string torch_cuda;
  // version of the nvidia-nccl package in PyTorch's folder
  std::string torch_nccl;
};

// A line of the kernel log in which NVIDIA's driver reports an error (Xid) of a
// GPU.
struct XidEvent {
  std::string pci_address;  // "0000:3b:00"
  int xid = 0;
  Duration ago;
};

// The PCI path from a GPU to its root port.
struct PciPath {
  std::string pci_address;  // PCI address of the GPU
  // Bridges whose access control services (ACS) redirect peer-to-peer traffic
  // to the root complex.
  std::vector<std::string> redirecting;
};

struct GpuSurroundings {
  // GPU errors (Xids) in the kernel log, the newest last; at most 64
  std::vector<XidEvent> xids;
  std::optional<bool> kernel_log_read;
  std::vector<PciPath> paths;
  int visible_devices = 0;  // number of device files /dev/nvidia0, …
};

struct Interface {
  std::string name;
  bool up = false;
  bool loopback = false;
  std::vector<std::string> addresses;
};

struct FabricPort {
  std::string device;  // name of the RDMA device, such as "mlx5_0"
  int port = 1;
  std::string state;  // state of the port: "ACTIVE", "DOWN"
  std::string layer;  // link layer: "InfiniBand", "Ethernet"
};

struct PortUse {
  int port = 0;
  std::string error;  // why no program can listen on `port`; empty: it can
};

struct NetworkFacts {
  std::string host_name;
  // The addresses that this host's name resolves to. If it does not resolve,
  // `forward_error` has the reason.
  std::vector<std::string> forward;
  std::string forward_error;
  // For each of this host's addresses, the name that it resolves to; empty: no
  // name.
  std::map<std::string, std::string> reverse;
  std::string outward_address;
  std::vector<Interface> interfaces;
  std::vector<FabricPort> fabric;
  std::vector<PortUse> ports;
  int ephemeral_first = 0;
  int ephemeral_last = 0;
};

// The value of FolderFacts::purpose for the log folder, which `launch` creates
// if it does not exist.
inline constexpr char kLogsPurpose[] = "logs";
// The value of FolderFacts::purpose for the working folder, which need not be
// writable.
inline constexpr char kWorkingPurpose[] = "working folder";

struct FolderFacts {
  std::string purpose;  // such as "logs" or "temporary files"
  std::string path;     // path of the folder, as given by the user
  // The nearest existing parent folder, if the folder `path` does not exist;
  // all other facts then describe this parent. Empty: the folder exists.
  std::string above;
  // why the folder `path` cannot be used, such as "no such folder" or "no
  // answer"
  std::string error;
  bool writable = false;
  bool read_only = false;  // whether the file system or its mount is read-only
  // Whether the mount is read-only although the file system is writable. The
  // folder is then read-only by configuration, as a container's root may be.
  // (After errors the kernel makes the file system itself read-only.)
  bool mounted_read_only = false;
  int64_t total = 0;  // size of the folder's file system in bytes
  int64_t free = 0;   // bytes that this user may still write to the file system
  // number of inodes; 0: the file system has no fixed number
  int64_t files = 0;
  int64_t files_free = 0;
};

struct HostFacts {
  std::string kernel;  // release of the kernel: "6.1.0-18-amd64"
  int cores = 0;       // number of CPU cores that are online
  int own_cores = 0;   // number of CPU cores on which this process may run
  // CPU limit of this process's cgroup, in cores; 0: none
  double quota_cores = 0;
  int64_t memory = 0;  // the machine's memory in bytes
  int64_t memory_available = 0;
  // memory limit of this process's cgroup in bytes; 0: no limit
  int64_t memory_limit = 0;
  // bytes in use in this process's cgroup; 0: unknown
  int64_t memory_in_use = 0;
  int64_t swap_used = 0;
  std::optional<FolderFacts> shm;
  int64_t open_files = 0;  // soft limit of open files; -1: no limit
  int64_t max_open_files = 0;
  int64_t processes = 0;
  int64_t locked_memory = 0;
  std::string governor;  // CPU frequency governor of the first core
  std::optional<bool> clock_synchronised;
};

// The result of an attempt to connect to the coordinator.
struct CoordinatorFacts {
  std::string endpoint;
  std::string error;  // why the coordinator did not answer; empty if it did
  std::vector<std::string> addresses;
  // local address of the connection to the coordinator
  std::string local_address;
  // this node's address as the coordinator sees it; empty: unknown, because an
  // old coordinator does not report it
  std::string seen_address;
  // The address at which other nodes of the job connect to this node; empty:
  // this node is in no job.
  std::string advertised_address;
  bool wants_token = false;  // whether the coordinator requires the job's token
  // The reason why this node has no valid token (secret) for the coordinator:
  // the token cannot be read, or the coordinator has rejected it. Empty: no
  // such error.
  std::string token_error;
  std::string version;
  // the coordinator's wall clock minus this node's wall clock
  std::optional<Duration> clock_ahead;
  Duration round_trip = Duration::zero();
};

struct NodeFacts {
  std::string version;  // version of Muster
  std::map<std::string, std::string> environment;
  GpuFacts gpus;
  int gpus_needed = 0;  // GPUs that a job's workers need; 0: unknown
  GpuSurroundings surroundings;
  LibraryFacts libraries;
  NetworkFacts network;
  HostFacts host;
  std::vector<FolderFacts> folders;
  // nullopt: the user named no coordinator, so none was contacted
  std::optional<CoordinatorFacts> coordinator;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_HEALTH_NODE_FACTS_H_
