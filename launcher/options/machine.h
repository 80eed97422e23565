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

// Facts about this machine and this process. These facts are read first and
// passed to the functions that plan the launch (PlanLaunch, PlanAgent), which
// are pure.
struct MachineFacts {
  std::string host_name;
  // IP addresses of the interfaces as text: those of the loopback interface
  // first, the others in the kernel's order.
  std::vector<std::string> addresses;
  // The address by which this machine reaches itself: 127.0.0.1, else ::1, else
  // another of its addresses.
  std::string loopback = "127.0.0.1";
  // The local address from which packets to other networks are sent; empty:
  // there is no route.
  std::string outward_address;
  std::map<std::string, std::string> environment;
  int cores = 1;  // number of cores that this process may run on
  // The GPUs that CUDA_VISIBLE_DEVICES leaves visible, in the notation of this
  // variable. Read only if the options ask for GPUs.
  std::vector<std::string> gpus;
  // PCI bus address of each GPU in `gpus`; empty: not known.
  std::vector<std::string> gpu_addresses;
  // Number of NVIDIA's device files, /dev/nvidia0 and so on. Known without
  // NVIDIA's library.
  int gpu_devices = 0;
  // The logical CPUs that this process may run on, ascending.
  std::vector<int> allowed_cpus;
  // sockets, cores and NUMA nodes; read only if workers are bound to CPUs
  agent::MachineLayout layout;
  int64_t pid = 0;
  // random number that tells this start of the agent from earlier ones (the
  // agent's incarnation)
  uint64_t incarnation = 0;
  // random UUID: the run id of a node that runs alone, and the source of run
  // tags
  std::string uuid;
  // random secret by which the coordinator recognizes this agent
  // (Report::place_key)
  std::string place_key;
  // Absolute path of the working folder. Empty: the folder was removed or
  // cannot be reached.
  std::string working_directory;
  // Parent folder of the log folder if there is no --log-dir.
  std::string temporary_directory;
  // name of the command that runs Python, "python3"; empty: none in PATH
  std::string python;
};

// Reads all facts except those about GPUs, CPU layout and network. Reading
// these takes time, so separate functions (below) read them when they are
// needed.
MachineFacts ReadMachineFacts(std::map<std::string, std::string> environment);

// Adds the layout of CPUs if `options` ask for CPU binding. Must be called
// before the process has a second thread (agent/binding/read_layout.h says
// why). Unavailable: the machine does not show its layout.
absl::Status ReadBindingFacts(const RunOptions& options, MachineFacts& facts);

// Adds the GPUs if `options` need them; loads NVIDIA's library. Internal: the
// library was loaded and reported an error.
absl::Status ReadGpuFacts(const RunOptions& options, MachineFacts& facts);

// Adds to `facts` the addresses of this machine's network interfaces, and
// `outward_address`. Sends no packet.
void ReadAddresses(MachineFacts& facts);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_MACHINE_H_
