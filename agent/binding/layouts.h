#ifndef MUSTER_AGENT_BINDING_LAYOUTS_H_
#define MUSTER_AGENT_BINDING_LAYOUTS_H_

#include <string>
#include <vector>

#include "agent/binding/machine_layout.h"

namespace muster::agent {

// The layout of a machine that hwloc generates from a description such as
// "pack:2 node:1 core:8 pu:2". Hyper-threads of a core have consecutive CPU
// numbers, unless "(indexes=…)" says otherwise. Aborts the test if hwloc
// refuses the description.
MachineLayout Synthetic(const std::string& description);

// The numbers of all CPUs of `layout`.
std::vector<int> AllCpus(const MachineLayout& layout);

// Adds one GPU for each element of `nodes` (a NUMA node; -1: unknown) to
// `layout`, the i-th with the PCI address "0000:i0:00.0". Returns the
// addresses.
std::vector<std::string> AddGpus(const std::vector<int>& nodes,
                                 MachineLayout* layout);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_LAYOUTS_H_
