#ifndef MUSTER_LAUNCHER_OPTIONS_NODE_BINDING_H_
#define MUSTER_LAUNCHER_OPTIONS_NODE_BINDING_H_

#include "absl/status/statusor.h"
#include "agent/binding/binding_plan.h"
#include "launcher/options/machine_facts.h"
#include "launcher/options/run_options.h"
#include "launcher/options/worker_slots.h"

namespace muster::launcher {

// What the workers of this node are bound to, --numa-binding being given. The
// GPUs that matter are those of --gpus, else all that are visible, as CUDA
// numbers them. InvalidArgument: see binding_plan.h. Pure.
absl::StatusOr<agent::BindingPlan> PlanNodeBinding(const RunOptions& options,
                                                   const MachineFacts& facts,
                                                   const WorkerSlots& slots);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_NODE_BINDING_H_
