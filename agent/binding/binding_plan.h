#ifndef MUSTER_AGENT_BINDING_BINDING_PLAN_H_
#define MUSTER_AGENT_BINDING_BINDING_PLAN_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/binding/binding_mode.h"
#include "agent/binding/machine_layout.h"

namespace muster::agent {

struct BindingRequest {
  Binding mode = Binding::kNode;  // not kNone
  int workers = 1;
  // The logical CPUs that this process may use, ascending.
  std::vector<int> allowed;
  // PCI addresses of the visible GPUs in CUDA's order, empty if unknown. Worker
  // i uses GPU i. If there are fewer GPUs than workers, it is unknown which
  // worker uses which GPU, and the GPUs are ignored.
  std::vector<std::string> gpus;
};

// The cores and memory of one worker.
struct WorkerBinding {
  std::vector<int> cpus;  // logical CPUs, ascending, not empty
  int threads = 1;        // these cores divided by the workers that share them
  // The preferred NUMA node. nullopt: no preference, because the machine has
  // one node or the worker's CPUs belong to several.
  std::optional<int> memory_node;
  std::string near_nic;  // see near_nic.h
  std::string reason;
};

struct BindingPlan {
  std::vector<WorkerBinding> workers;
  std::string how;  // half a sentence that explains the plan
};

// Chooses the cores of each worker. Equals PyTorch's torch/numa/binding.py on
// the same machine with the same GPUs: all hyper-threads of a core go to the
// same worker; `exclusive` divides a node's cores by the GPUs at it, used or
// not, and the first GPUs get the remaining cores; `core-complex` assigns the
// node's last-level caches in turn, those with the most usable CPUs first.
//
// InvalidArgument, one line: a worker's GPU has no usable cores, or `exclusive`
// has too few of them. Pure.
absl::StatusOr<BindingPlan> PlanBinding(const BindingRequest& request,
                                        const MachineLayout& layout);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_BINDING_PLAN_H_
