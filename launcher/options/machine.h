#ifndef MUSTER_LAUNCHER_OPTIONS_MACHINE_H_
#define MUSTER_LAUNCHER_OPTIONS_MACHINE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/binding/machine_layout.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// What a plan needs to know of this machine and this process. The plans are
// pure: whatever they depend on is in here or in the options.
struct MachineFacts {
  std::string host_name;
  // The interfaces' IP addresses, as text, the loopback interface's first, else
  // in the kernel's order.
  std::vector<std::string> addresses;
  // The address by which this machine reaches itself: 127.0.0.1 where there is
  // one, else ::1, else another of its own.
  std::string loopback = "127.0.0.1";
  // The one that a packet to the outside would carry; empty: no such route.
  std::string outward_address;
  std::map<std::string, std::string> environment;
  int cores = 1;  // that this process may run on
  // The GPUs that CUDA_VISIBLE_DEVICES leaves visible, in its notation. Read
  // only where the options ask for GPUs.
  std::vector<std::string> gpus;
  // Where each of them is on the PCI bus; empty: not known.
  std::vector<std::string> gpu_addresses;
  // The logical CPUs that this process may run on, ascending.
  std::vector<int> allowed_cpus;
  agent::MachineLayout layout;  // read only where workers are to be bound
  int64_t pid = 0;
  uint64_t incarnation = 0;       // random
  std::string uuid;               // random
  std::string working_directory;  // empty: it was removed, or is out of reach
  // Where files go without --log-dir.
  std::string temporary_directory;
  std::string python;  // "python3"; empty: none in PATH
};

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

#endif  // MUSTER_LAUNCHER_OPTIONS_MACHINE_H_
