#ifndef MUSTER_AGENT_BINDING_READ_LAYOUT_H_
#define MUSTER_AGENT_BINDING_READ_LAYOUT_H_

#include "absl/status/statusor.h"
#include "agent/binding/machine_layout.h"

namespace muster::agent {

// This machine as hwloc sees it, or what HWLOC_XMLFILE, HWLOC_SYNTHETIC or
// HWLOC_FSROOT names in its stead. Takes some milliseconds. For a process that
// has no other thread yet: hwloc is kept from loading plugins, which would open
// displays and OpenCL drivers, by a variable that is set meanwhile.
// InvalidArgument, one line: what such a variable names cannot be read.
// Unavailable: hwloc's refusal.
absl::StatusOr<MachineLayout> ReadLayout();

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_READ_LAYOUT_H_
