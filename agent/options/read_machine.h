#ifndef MUSTER_AGENT_OPTIONS_READ_MACHINE_H_
#define MUSTER_AGENT_OPTIONS_READ_MACHINE_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "agent/options/machine_facts.h"
#include "agent/options/run_options.h"

namespace muster {

// The process's environment, by name.
std::map<std::string, std::string> ReadEnvironment();

// Everything but the network: that costs nothing where nobody is met. Loads
// NVIDIA's library only where `options` need the GPUs. InvalidArgument where
// they need GPUs and these cannot be counted.
absl::StatusOr<MachineFacts> ReadMachineFacts(
    const RunOptions& options, std::map<std::string, std::string> environment);

// Adds the interfaces' addresses and the outward one. Sends no packet.
void ReadAddresses(MachineFacts& facts);

}  // namespace muster

#endif  // MUSTER_AGENT_OPTIONS_READ_MACHINE_H_
