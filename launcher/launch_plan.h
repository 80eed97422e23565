#ifndef MUSTER_LAUNCHER_LAUNCH_PLAN_H_
#define MUSTER_LAUNCHER_LAUNCH_PLAN_H_

#include "absl/status/statusor.h"
#include "agent/agent_options.h"
#include "launcher/coordinator_choice.h"
#include "launcher/options/machine.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// What this `launch` runs: one agent and, if it hosts it, the coordinator.
struct LaunchPlan {
  agent::AgentOptions agent;
  CoordinatorChoice coordinator;
};

// Pure. Errors as ChooseCoordinator's and PlanAgent's: one line that begins
// with the flag.
absl::StatusOr<LaunchPlan> PlanLaunch(const RunOptions& options,
                                      const Meeting& meeting,
                                      const MachineFacts& facts,
                                      const ResolvedHost& resolved);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_LAUNCH_PLAN_H_
