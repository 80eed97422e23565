#ifndef MUSTER_LAUNCHER_LAUNCH_PLAN_H_
#define MUSTER_LAUNCHER_LAUNCH_PLAN_H_

#include "absl/status/statusor.h"
#include "agent/agent_options.h"
#include "launcher/coordinator_choice.h"
#include "launcher/options/machine.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// The parts that this `launch` runs: one agent and, on the hosting node, the
// coordinator.
struct LaunchPlan {
  agent::AgentOptions agent;
  CoordinatorChoice coordinator;
};

// Plans the parts that this `launch` runs. `options`: the values of the flags.
// `meeting`, `facts` and `resolved`: the facts about the job's nodes and this
// machine on which the plan depends. Pure. Errors: those of ChooseCoordinator
// and PlanAgent, one line that begins with the flag.
absl::StatusOr<LaunchPlan> PlanLaunch(const RunOptions& options,
                                      const Meeting& meeting,
                                      const MachineFacts& facts,
                                      const ResolvedHost& resolved);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_LAUNCH_PLAN_H_
