#ifndef MUSTER_AGENT_BINDING_WORKER_SEATS_H_
#define MUSTER_AGENT_BINDING_WORKER_SEATS_H_

#include <string>
#include <vector>

#include "agent/binding/machine_layout.h"

namespace muster::agent {

// Where something that wants cores is.
struct Seat {
  int numa_node = 0;
  const PciDevice* gpu = nullptr;  // null: none, or not found
  std::string reason;              // "GPU 0 (0000:3b:00.0) is at NUMA node 0"
};

// The seats of a node and how they came about.
struct Seats {
  // Worker i has seat i. There may be more than workers: GPUs that nobody of
  // this job uses have their share of a node's cores all the same, as
  // torchrun does it.
  std::vector<Seat> seats;
  std::string how;  // "by the GPUs' NUMA nodes"
};

// A seat for each GPU of `gpus` (PCI addresses, in CUDA's order; empty where
// not known), if there is one for each of `workers`. Else a seat for each
// worker, spread over the NUMA nodes in proportion to the cores of `allowed`,
// which is what `layout` has of the CPUs that this process may use; not empty.
//
// GPUs of which the firmware does not tell the node are spread evenly over
// those that they may be at. Pointers are into `layout`. Pure.
Seats SeatWorkers(const MachineLayout& layout,
                  const std::vector<LogicalCpu>& allowed,
                  const std::vector<std::string>& gpus, int workers);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_WORKER_SEATS_H_
