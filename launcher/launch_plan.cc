#include "launcher/launch_plan.h"

#include <utility>

#include "launcher/options/agent_plan.h"

namespace muster::launcher {

absl::StatusOr<LaunchPlan> PlanLaunch(const RunOptions& options,
                                      const Meeting& meeting,
                                      const MachineFacts& facts,
                                      const ResolvedHost& resolved) {
  absl::StatusOr<CoordinatorChoice> choice =
      ChooseCoordinator(meeting, options, facts, resolved);
  if (!choice.ok()) return choice.status();
  absl::StatusOr<agent::AgentOptions> agent =
      PlanAgent(options, facts, meeting);
  if (!agent.ok()) return agent.status();
  return LaunchPlan{*std::move(agent), *std::move(choice)};
}

}  // namespace muster::launcher
