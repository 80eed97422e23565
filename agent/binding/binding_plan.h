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
  // The logical CPUs that this process may run on, ascending.
  std::vector<int> allowed;
  // PCI addresses of the visible GPUs in CUDA's order, empty where not known.
  // Worker i uses GPU i; with fewer GPUs than workers nobody knows who uses
  // which, and they do not matter.
  std::vector<std::string> gpus;
};

// What one worker is bound to.
struct WorkerBinding {
  std::vector<int> cpus;  // logical, ascending, not empty
  int threads = 1;        // cores of these for each worker that has them
  // Where its memory is taken from as long as there is some. nullopt: wherever
  // it runs, since the machine has one node or the worker several.
  std::optional<int> memory_node;
  std::string near_nic;  // see near_nic.h
  std::string reason;
};

struct BindingPlan {
  std::vector<WorkerBinding> workers;
  std::string how;  // half a sentence on all of them
};

// Which cores each worker gets. As PyTorch's torch/numa/binding.py, on the same
// machine with the same GPUs the same cores: hyper-threads of a core are never
// parted; `exclusive` divides a node's cores by the GPUs at it, used or not,
// the first ones getting one more; `core-complex` goes round the node's
// last-level caches, those with the most usable CPUs first.
//
// InvalidArgument, one line: no core can be used where a worker's GPU is, or
// there are fewer than `exclusive` needs. Pure.
absl::StatusOr<BindingPlan> PlanBinding(const BindingRequest& request,
                                        const MachineLayout& layout);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_BINDING_BINDING_PLAN_H_
