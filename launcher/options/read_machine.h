#ifndef MUSTER_LAUNCHER_OPTIONS_READ_MACHINE_H_
#define MUSTER_LAUNCHER_OPTIONS_READ_MACHINE_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "launcher/options/machine_facts.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// Everything but GPUs and network, which cost nothing where nobody needs them.
MachineFacts ReadMachineFacts(std::map<std::string, std::string> environment);

// Adds what binding needs, if `options` ask for it; before the process has a
// second thread (see read_layout.h). Unavailable: the machine does not tell.
absl::Status ReadBindingFacts(const RunOptions& options, MachineFacts& facts);

// Adds the GPUs, if `options` need them: loads NVIDIA's library. Internal: it
// is there and fails.
absl::Status ReadGpuFacts(const RunOptions& options, MachineFacts& facts);

// Adds the interfaces' addresses and the outward one. Sends no packet.
void ReadAddresses(MachineFacts& facts);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_READ_MACHINE_H_
