#ifndef MUSTER_LAUNCHER_OPTIONS_WORKER_SLOTS_H_
#define MUSTER_LAUNCHER_OPTIONS_WORKER_SLOTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/binding/binding_plan.h"
#include "launcher/options/machine.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// The workers of this node.
struct WorkerSlots {
  int count = 1;
  // CUDA_VISIBLE_DEVICES of each worker; empty: the node's own for all.
  std::vector<std::string> gpu_of_local_rank;
  // Whether HIP_VISIBLE_DEVICES, by which ROCm chooses, gets the same value.
  bool sets_hip = false;
  // That all of them together use; 0: not known.
  int gpus_needed = 0;
};

// Whether the options cannot be planned without knowing the GPUs, which costs
// loading NVIDIA's library.
bool NeedsGpus(const RunOptions& options);

// InvalidArgument, one line: more GPUs asked for than there are, a GPU that
// there is not. Pure.
absl::StatusOr<WorkerSlots> PlanWorkerSlots(const RunOptions& options,
                                            const MachineFacts& facts);

// What the workers of this node are bound to, --numa-binding being given. The
// GPUs that matter are those of --gpus, else all that are visible, as CUDA
// numbers them. InvalidArgument: see binding_plan.h. Pure.
absl::StatusOr<agent::BindingPlan> PlanNodeBinding(const RunOptions& options,
                                                   const MachineFacts& facts,
                                                   const WorkerSlots& slots);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_WORKER_SLOTS_H_
