#ifndef MUSTER_AGENT_BINDING_WORKER_SEATS_H_
#define MUSTER_AGENT_BINDING_WORKER_SEATS_H_

#include <string>
#include <vector>

#include "agent/binding/machine_layout.h"

namespace muster::agent {

// The location of a GPU or worker that needs cores.
struct Seat {
  int numa_node = 0;
  const PciDevice* gpu = nullptr;  // null: no GPU, or not found
  std::string reason;              // "GPU 0 (0000:3b:00.0) is at NUMA node 0"
};

// The seats of a node, and the rule by which they were chosen.
struct Seats {
  // Worker i has seat i. There may be more seats than workers: as in torchrun,
  // GPUs that this job does not use also get a share of a node's cores.
  std::vector<Seat> seats;
  std::string how;  // "by the GPUs' NUMA nodes"
};

// One seat for each GPU of `gpus` (PCI addresses in CUDA's order; empty if
// unknown), if there are as many GPUs as `workers`. Otherwise one seat for each
// worker, distributed over the NUMA nodes in proportion to their cores in
// `allowed` (the CPUs of `layout` that this process may use; not empty).
//
// GPUs at an unknown node are distributed evenly over the possible nodes.
// Pointers refer to `layout`. Pure.
Seats SeatWorkers(const MachineLayout& layout,
                  const std::vector<LogicalCpu>& allowed,
                  const std::vector<std::string>& gpus, int workers);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_WORKER_SEATS_H_
