#ifndef MUSTER_AGENT_BINDING_MACHINE_LAYOUT_H_
#define MUSTER_AGENT_BINDING_MACHINE_LAYOUT_H_

#include <string>
#include <vector>

namespace muster::agent {

// One logical CPU (a hyper-thread, if cores have several), online or not. CPUs,
// sockets and nodes have the operating system's numbers.
struct LogicalCpu {
  int number = 0;
  // `core`: the lowest logical CPU on this CPU's core. `complex`: the lowest
  // logical CPU with this CPU's last-level cache. Either may be a CPU that this
  // process may not use.
  int core = 0;
  int complex = 0;
  int socket = 0;
  int numa_node = 0;
};

// One PCI function (it has its own PCI address) that may be a GPU or a network
// card.
struct PciDevice {
  std::string address;  // PCI address, such as "0000:3b:00.0"
  // The bridges above the device, the host bridge first. Two devices are nearer
  // to each other the more bridges they share.
  std::vector<std::string> bridges;
  // The NUMA nodes with CPUs that the firmware names as near the device. If
  // there are none or several, it is unknown to which NUMA node the device
  // belongs.
  std::vector<int> numa_nodes;
};

enum class NicKind { kEthernet, kInfiniBand };

// A network card under the name that programs use: an InfiniBand or RoCE device
// ("mlx5_0") or a network interface ("eth0"). One card may have both names.
struct Nic {
  std::string name;
  NicKind kind = NicKind::kEthernet;
  PciDevice at;
};

// The CPUs and devices of a machine, as needed for binding.
struct MachineLayout {
  std::vector<LogicalCpu> cpus;    // in ascending order of their numbers
  std::vector<PciDevice> devices;  // devices that may be GPUs
  std::vector<Nic> nics;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_MACHINE_LAYOUT_H_
