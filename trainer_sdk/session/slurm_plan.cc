#include <cstdint>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "trainer_sdk/session/launcher_plans.h"
#include "trainer_sdk/session/slurm_lists.h"

namespace muster {
namespace {

// Slurm's step ids from here on are the batch script, the interactive shell and
// others that are not tasks of an srun.
constexpr uint32_t kLeastSpecialStep = 0xFFFFFFF0;

std::string StepName(const EnvironmentReader& variables) {
  return variables.FirstSet({"SLURM_STEP_ID", "SLURM_STEPID"});
}

}  // namespace

bool IsSlurmTask(const EnvironmentReader& variables) {
  uint32_t step = 0;
  return variables.Has("SLURM_PROCID") &&
         absl::SimpleAtoi(variables.Text(StepName(variables)), &step) &&
         step < kLeastSpecialStep;
}

// A step may have fewer tasks than its job; the STEP_ variables describe the
// step.
SessionPlan PlanOfSlurm(EnvironmentReader& variables) {
  SessionPlan plan;
  plan.launcher = Launcher::kSlurm;
  plan.rank = variables.Number("SLURM_PROCID", 0, kMostRanks - 1).value_or(0);
  plan.world_size = variables.Required(
      variables.FirstSet({"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}), 1,
      kMostRanks, "SLURM_PROCID");
  plan.local_rank =
      variables.Required("SLURM_LOCALID", 0, kMostRanks - 1, "SLURM_PROCID");
  plan.group_rank =
      variables.Required("SLURM_NODEID", 0, kMostRanks - 1, "SLURM_PROCID");
  plan.group_world_size = variables.Required(
      variables.FirstSet({"SLURM_STEP_NUM_NODES", "SLURM_NNODES"}), 1,
      kMostRanks, "SLURM_PROCID");
  plan.local_world_size =
      TasksOnNode(variables.Text(variables.FirstSet(
                      {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"})),
                  *plan.group_rank);
  plan.restart_count =
      variables.Number("SLURM_RESTART_COUNT", 0, 1 << 30).value_or(0);
  plan.run_id = absl::StrCat(
      "slurm-",
      variables.Text(variables.FirstSet({"SLURM_JOB_ID", "SLURM_JOBID"})), ".",
      variables.Text(StepName(variables)));
  if (plan.world_size == 1) return plan;

  plan.store_place = StorePlace::kRankZero;
  plan.master_address = variables.Text("MASTER_ADDR");
  if (plan.master_address.empty() && plan.group_world_size == 1) {
    plan.master_address = "127.0.0.1";
  }
  if (plan.master_address.empty()) {
    const std::string list =
        variables.FirstSet({"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"});
    const std::optional<std::string> first = FirstHost(variables.Text(list));
    plan.master_address = first.value_or("");
    if (!first) {
      variables.Refuse(
          absl::StrCat(variables.Shown(list),
                       ": that names no host; set MASTER_ADDR to the "
                       "address of the step's first node"));
    }
  }
  plan.master_port = variables.Number("MASTER_PORT", 1, 65535)
                         .value_or(DerivedPort(plan.run_id));
  return plan;
}

}  // namespace muster
