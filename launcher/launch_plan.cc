#include "launcher/launch_plan.h"

#include <utility>

#include "agent/options/agent_plan.h"

namespace muster {

absl::StatusOr<LaunchPlan> PlanLaunch(RunOptions options,
                                      const MachineFacts& facts,
                                      const ResolvedHost& resolved) {
  absl::StatusOr<CoordinatorChoice> choice =
      ChooseCoordinator(options, facts, resolved);
  if (!choice.ok()) return choice.status();
  if (options.standalone == Standalone::kYes) options.run_id = facts.uuid;
  absl::StatusOr<AgentOptions> agent =
      PlanAgent(options, facts, choice->endpoint.ToString());
  if (!agent.ok()) return agent.status();
  // On a node that meets nobody --master-port cannot mean the coordinator's.
  if (IsAlone(options)) agent->master_port = options.master_port.value_or(0);
  return LaunchPlan{*std::move(agent), *std::move(choice)};
}

}  // namespace muster
