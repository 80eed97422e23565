#include "launcher/launch_plan.h"

#include <utility>

#include "agent/options/agent_plan.h"

namespace muster {
namespace {

// --rdzv-id's default.
constexpr char kDefaultRunId[] = "none";

}  // namespace

absl::StatusOr<LaunchPlan> PlanLaunch(RunOptions options,
                                      const MachineFacts& facts,
                                      const ResolvedHost& resolved) {
  absl::StatusOr<CoordinatorChoice> choice =
      ChooseCoordinator(options, facts, resolved);
  if (!choice.ok()) return choice.status();
  const bool is_unnamed = IsAlone(options) && options.run_id == kDefaultRunId;
  if (options.standalone == Standalone::kYes || is_unnamed) {
    options.run_id = facts.uuid;
  }
  absl::StatusOr<AgentOptions> agent =
      PlanAgent(options, facts, choice->endpoint.ToString());
  if (!agent.ok()) return agent.status();
  // On a node that meets nobody --master-port cannot mean the coordinator's.
  if (IsAlone(options)) agent->master_port = options.master_port.value_or(0);
  return LaunchPlan{*std::move(agent), *std::move(choice)};
}

}  // namespace muster
