#include "launcher/launch_plan.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "launcher/options/agent_plan.h"

namespace muster::launcher {
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
  absl::StatusOr<agent::AgentOptions> agent =
      PlanAgent(options, facts, choice->endpoint.ToString());
  if (!agent.ok()) return agent.status();
  // On a node that meets nobody --master-port cannot mean the coordinator's.
  if (IsAlone(options) && options.store_port == 0) {
    agent->store_port = options.master_port.value_or(0);
    agent->store_port_flag = "--master-port";
  }
  if (!IsAlone(options) && options.store_port != 0 &&
      options.store_port == choice->endpoint.port) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--store-port=", options.store_port,
        ": is the coordinator's port; write another one, and let both through "
        "the firewall"));
  }
  return LaunchPlan{*std::move(agent), *std::move(choice)};
}

}  // namespace muster::launcher
