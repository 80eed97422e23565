#include "agent/binding/layouts.h"

#include <cstdlib>

#include "agent/binding/read_layout.h"
#include "base/check.h"

namespace muster::agent {

MachineLayout Synthetic(const std::string& description) {
  setenv("HWLOC_SYNTHETIC", description.c_str(), 1);
  const absl::StatusOr<MachineLayout> layout = ReadLayout();
  unsetenv("HWLOC_SYNTHETIC");
  MUSTER_CHECK(layout.ok()) << std::string(layout.status().message());
  return *layout;
}

std::vector<int> AllCpus(const MachineLayout& layout) {
  std::vector<int> all;
  for (const LogicalCpu& cpu : layout.cpus) all.push_back(cpu.number);
  return all;
}

std::vector<std::string> AddGpus(const std::vector<int>& nodes,
                                 MachineLayout* layout) {
  std::vector<std::string> addresses;
  for (const int node : nodes) {
    PciDevice gpu;
    gpu.address = "0000:" + std::to_string(addresses.size()) + "0:00.0";
    if (node >= 0) gpu.numa_nodes = {node};
    layout->devices.push_back(gpu);
    addresses.push_back(gpu.address);
  }
  return addresses;
}

}  // namespace muster::agent
