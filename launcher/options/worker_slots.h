#ifndef MUSTER_LAUNCHER_OPTIONS_WORKER_SLOTS_H_
#define MUSTER_LAUNCHER_OPTIONS_WORKER_SLOTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/binding/binding_plan.h"
#include "launcher/options/machine.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// The number of workers of this node, and their GPUs.
struct WorkerSlots {
  int count = 1;
  // The value of CUDA_VISIBLE_DEVICES for each worker, indexed by its local
  // rank. Empty: all workers inherit the value of the node.
  std::vector<std::string> gpu_of_local_rank;
  // Whether HIP_VISIBLE_DEVICES, the variable of ROCm, gets the same value as
  // CUDA_VISIBLE_DEVICES.
  bool sets_hip = false;
  // Number of GPUs that all workers together use; 0: not known.
  int gpus_needed = 0;
};

// Whether PlanWorkerSlots or PlanNodeBinding needs the list of this machine's
// GPUs. The list can be read only after NVIDIA's library has been loaded.
bool NeedsGpus(const RunOptions& options);

// Plans the workers and their GPUs. InvalidArgument, one line: this machine
// does not have the requested number of GPUs, or a requested GPU. Pure.
absl::StatusOr<WorkerSlots> PlanWorkerSlots(const RunOptions& options,
                                            const MachineFacts& facts);

// Returns the GPU of each worker for messages (NodeIdentity::gpus): the GPU
// that the plan gives to it, or else the one that a worker usually chooses,
// the GPU with the number of its local rank. Empty: unknown. Pure.
std::vector<std::string> GpuNames(const WorkerSlots& slots,
                                  const MachineFacts& facts);

// Returns the CPUs to which each worker is bound with --numa-binding. The
// binding considers the GPUs of --gpus, or else all visible GPUs, in CUDA's
// numbering. InvalidArgument: a worker's GPU has no usable cores, or there are
// too few for an exclusive binding. Pure.
absl::StatusOr<agent::BindingPlan> PlanNodeBinding(const RunOptions& options,
                                                   const MachineFacts& facts,
                                                   const WorkerSlots& slots);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_WORKER_SLOTS_H_
