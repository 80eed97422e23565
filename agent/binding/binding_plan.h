#ifndef MUSTER_AGENT_BINDING_BINDING_PLAN_H_
#define MUSTER_AGENT_BINDING_BINDING_PLAN_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/binding/machine_layout.h"

namespace muster::agent {

// The cores and memory to which a worker is bound (torchrun's --numa-binding).
// The worker's NUMA node is the node of its GPU. If the GPU is not known,
// SeatWorkers assigns a node.
enum class Binding {
  kNone,
  kNode,         // all cores of the worker's NUMA node
  kSocket,       // all cores of the socket of the worker's NUMA node
  kExclusive,    // an exclusive share of the cores of the worker's NUMA node
  kCoreComplex,  // the cores of one last-level cache of the worker's NUMA node
};

// The value of --numa-binding for this mode; "none" for kNone.
const char* BindingName(Binding mode);

// The name of the NIC in `nics` that is nearest to `device`: the one that
// shares the most PCI bridges with it. Empty if no NIC shares a bridge with
// `device`, not even the host bridge. Also empty if several NICs are equally
// near, because the communication library can choose better among them. If
// `nics` contains InfiniBand devices, only these are considered: a card that is
// both an InfiniBand device and a network interface is slower as a network
// interface. Pure.
std::string NearNic(const PciDevice& device, const std::vector<Nic>& nics);

// A GPU, or a worker whose GPU is unknown, that gets a set of cores of the NUMA
// node `numa_node`.
struct Seat {
  int numa_node = 0;
  // null: no GPU, or the GPU's PCI device was not found
  const PciDevice* gpu = nullptr;
  // why `numa_node` was chosen: "GPU 0 (0000:3b:00.0) is at NUMA node 0"
  std::string reason;
};

// The seats of one machine (GPUs or workers that get cores), and the rule by
// which their NUMA nodes were chosen.
struct Seats {
  // Worker i gets the cores of seat i. There may be more seats than workers: as
  // in torchrun, a GPU that no worker of this job uses also gets a share of its
  // node's cores.
  std::vector<Seat> seats;
  // How the NUMA node of each seat (a GPU, or a worker that gets cores) was
  // chosen, such as "by the GPUs' NUMA nodes".
  std::string how;
};

// Makes one seat for each GPU of `gpus` if there are at least as many GPUs as
// `workers`. Otherwise makes one seat for each worker, distributed over the
// NUMA nodes in proportion to their cores in `allowed`.
//
// `gpus`: PCI addresses in CUDA's order; empty if unknown. `allowed`: the CPUs
// of `layout` that this process may use; not empty. GPUs whose NUMA node is not
// known are distributed evenly over the nodes at which they may be. The
// pointers in the result point into `layout`. Pure.
Seats SeatWorkers(const MachineLayout& layout,
                  const std::vector<LogicalCpu>& allowed,
                  const std::vector<std::string>& gpus, int workers);

struct BindingRequest {
  Binding mode = Binding::kNode;  // how the workers are bound; not kNone
  int workers = 1;
  // The logical CPUs that this process may use, in ascending order.
  std::vector<int> allowed;
  // PCI addresses of the visible GPUs in CUDA's order, empty if unknown. Worker
  // i uses GPU i. If there are fewer GPUs than workers, it is unknown which
  // worker uses which GPU, and the GPUs are ignored.
  std::vector<std::string> gpus;
};

// The cores and memory of one worker.
struct WorkerBinding {
  std::vector<int> cpus;  // logical CPUs, in ascending order; not empty
  // The upper bound of the worker's OMP_NUM_THREADS: the number of cores in
  // `cpus`, divided by the number of workers that share these cores; at least
  // 1.
  int threads = 1;
  // The preferred NUMA node. nullopt: no preference, because the machine has
  // only one NUMA node, or the worker's CPUs belong to several NUMA nodes.
  std::optional<int> memory_node;
  std::string near_nic;  // network card near the worker's GPU, see NearNic
  std::string reason;
};

struct BindingPlan {
  std::vector<WorkerBinding> workers;
  // the rule by which cores were chosen, such as "by the GPUs' NUMA nodes"
  std::string how;
};

// Chooses the cores of each worker. The result equals that of PyTorch's
// torch/numa/binding.py on the same machine with the same GPUs. All
// hyper-threads of a core go to the same worker.
//
// The mode `exclusive` divides the cores of a NUMA node by the number of all
// GPUs at this NUMA node, even unused ones. If the division leaves a remainder,
// the first GPUs get one core more. The mode `core-complex` assigns the
// last-level caches of the NUMA node in turn, those with the most usable CPUs
// first.
//
// InvalidArgument, one line: a worker's GPU has no usable cores, or too few for
// `exclusive`. Pure.
absl::StatusOr<BindingPlan> PlanBinding(const BindingRequest& request,
                                        const MachineLayout& layout);

// A node's binding in one short line, with the workers in the order of their
// local ranks. Pure.
//
// - "node: 0-15 | 16-31": the CPUs of two workers.
// - "socket: 0-31 x4 | 32-63 x4": x4 means four workers with the same CPUs.
// - "node: 0-15@mlx5_0 | 16-31@mlx5_1": with the network card near each
//   worker's GPU.
// - "node: 0-31 x3@mlx5_0,mlx5_1,-": workers with the same CPUs and different
//   cards; - means no card.
//
// If the line would exceed `most` bytes (at least 40), it is cut after a
// worker.
std::string BindingText(Binding mode, const BindingPlan& plan, size_t most);

// BindingText followed by the reason for the choice, printed at the beginning
// of a run. Pure.
std::string BindingRemark(Binding mode, const BindingPlan& plan);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_BINDING_PLAN_H_
