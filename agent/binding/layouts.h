#ifndef MUSTER_AGENT_BINDING_LAYOUTS_H_
#define MUSTER_AGENT_BINDING_LAYOUTS_H_

#include <string>
#include <vector>

#include "agent/binding/machine_layout.h"

namespace muster::agent {

// What hwloc makes of its synthetic description, such as "pack:2 node:1
// core:8 pu:2". CPUs are numbered through, hyper-threads next to each other,
// unless "(indexes=…)" says otherwise. Aborts the test if hwloc refuses.
MachineLayout Synthetic(const std::string& description);

// The numbers of all CPUs of `layout`.
std::vector<int> AllCpus(const MachineLayout& layout);

// Puts a GPU at each of `nodes` into `layout`, the i-th at "0000:i0:00.0"; -1:
// the firmware does not tell. Returns their addresses.
std::vector<std::string> AddGpus(const std::vector<int>& nodes,
                                 MachineLayout* layout);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_LAYOUTS_H_
