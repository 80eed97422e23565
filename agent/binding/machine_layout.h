#ifndef MUSTER_AGENT_BINDING_MACHINE_LAYOUT_H_
#define MUSTER_AGENT_BINDING_MACHINE_LAYOUT_H_

#include <string>
#include <vector>

namespace muster::agent {

// One logical CPU (a hyper-thread, where cores have several), online or not.
// Numbers of CPUs, sockets and nodes are the operating system's.
struct LogicalCpu {
  int number = 0;
  // The least logical CPU on the same core, and the least that shares its
  // last-level cache, whether this process may use it or not.
  int core = 0;
  int complex = 0;
  int socket = 0;
  int numa_node = 0;
};

// A PCI function.
struct PciDevice {
  std::string address;  // "0000:3b:00.0"
  // The bridges above it, the host's first: what two devices have in common is
  // how near each other they are.
  std::vector<std::string> bridges;
  // The NUMA nodes with CPUs that are near it. Several or none: the firmware
  // does not say which.
  std::vector<int> numa_nodes;
};

enum class NicKind { kEthernet, kInfiniBand };

// A network card as programs name it: an InfiniBand or RoCE device ("mlx5_0")
// or a network interface ("eth0"). One card may be both.
struct Nic {
  std::string name;
  NicKind kind = NicKind::kEthernet;
  PciDevice at;
};

// What binding needs to know of a machine.
struct MachineLayout {
  std::vector<LogicalCpu> cpus;    // ascending by number
  std::vector<PciDevice> devices;  // those that may be GPUs
  std::vector<Nic> nics;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_MACHINE_LAYOUT_H_
