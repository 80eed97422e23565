#ifndef MUSTER_AGENT_BINDING_READ_LAYOUT_H_
#define MUSTER_AGENT_BINDING_READ_LAYOUT_H_

#include "absl/status/statusor.h"
#include "agent/binding/machine_layout.h"

namespace muster::agent {

// Reads this machine's layout with hwloc, or the layout that HWLOC_XMLFILE,
// HWLOC_SYNTHETIC or HWLOC_FSROOT names. Takes some milliseconds. Only for a
// process without other threads, because the call temporarily sets the
// environment variable HWLOC_PLUGINS_PATH. The variable keeps hwloc from
// loading plug-ins, which would open displays and OpenCL drivers.
//
// InvalidArgument, one line: the file or text that a variable names is invalid.
// Unavailable: hwloc failed.
absl::StatusOr<MachineLayout> ReadLayout();

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_READ_LAYOUT_H_
