#include "absl/strings/str_cat.h"
#include "trainer_sdk/session/launcher_plans.h"

namespace muster {
namespace {

Launcher WhoseVariables(const EnvironmentReader& variables) {
  if (variables.Has("MUSTER_RUN_ID")) return Launcher::kMuster;
  if (variables.Has("TORCHELASTIC_RUN_ID")) return Launcher::kTorchrun;
  return Launcher::kEnvironment;
}

// Whether all ranks, including rank 0, are only clients of the store.
bool HasAgentStore(EnvironmentReader& variables) {
  const std::string text = variables.Text("TORCHELASTIC_USE_AGENT_STORE");
  if (!text.empty() && text != "True" && text != "False") {
    variables.Refuse(
        absl::StrCat(variables.Shown("TORCHELASTIC_USE_AGENT_STORE"),
                     " is neither True nor False"));
  }
  return text == "True";
}

// Detects mpirun inside a worker: its processes inherit RANK and WORLD_SIZE, so
// each would take itself for that worker.
void RefuseOuterWorld(EnvironmentReader& variables, const SessionPlan& plan) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const auto size = variables.Number(name, 1, kMostRanks);
    if (size && *size > plan.world_size) {
      variables.Refuse(absl::StrCat(
          variables.Shown("WORLD_SIZE"), " and ", variables.Shown(name),
          " contradict each other; unset RANK and WORLD_SIZE if mpirun was "
          "started by a worker of another job"));
    }
  }
}

}  // namespace

SessionPlan PlanOfEnvironment(EnvironmentReader& variables) {
  SessionPlan plan;
  plan.launcher = WhoseVariables(variables);
  plan.rank = variables.Number("RANK", 0, kMostRanks - 1).value_or(0);
  plan.world_size = variables.Required("WORLD_SIZE", 1, kMostRanks, "RANK");
  const auto local_rank = variables.Number("LOCAL_RANK", 0, kMostRanks - 1);
  plan.local_rank = local_rank.value_or(0);
  plan.local_world_size = variables.Number("LOCAL_WORLD_SIZE", 1, kMostRanks);
  plan.group_rank = variables.Number("GROUP_RANK", 0, kMostRanks - 1);
  plan.group_world_size = variables.Number("GROUP_WORLD_SIZE", 1, kMostRanks);
  if (!local_rank && !plan.local_world_size && !plan.group_rank &&
      !plan.group_world_size) {
    // For job operators that start one process per node.
    plan.local_world_size = 1;
    plan.group_rank = plan.rank;
    plan.group_world_size = plan.world_size;
  }
  plan.restart_count =
      variables.Number("TORCHELASTIC_RESTART_COUNT", 0, 1 << 30).value_or(0);
  plan.round =
      variables.Number("MUSTER_ROUND", 0, int64_t{1} << 60).value_or(0);
  plan.run_id = variables.Text(
      variables.FirstSet({"MUSTER_RUN_ID", "TORCHELASTIC_RUN_ID"}));
  RefuseOuterWorld(variables, plan);

  if (HasAgentStore(variables)) {
    plan.store_place = StorePlace::kAgent;
  } else if (plan.world_size > 1) {
    plan.store_place = StorePlace::kRankZero;
  } else {
    return plan;
  }
  plan.master_address = variables.Text("MASTER_ADDR");
  if (plan.master_address.empty()) {
    variables.Refuse(
        "MASTER_ADDR is not set; set it to the address of rank 0's host, and "
        "MASTER_PORT to a free port there");
  }
  plan.master_port = variables.Required("MASTER_PORT", 1, 65535, "RANK");
  return plan;
}

}  // namespace muster
