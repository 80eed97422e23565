#include "trainer_sdk/session/session_plan.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/session/environment_reader.h"
#include "trainer_sdk/session/launcher_plans.h"

namespace muster {
namespace {

// srun sets PMI's variables too, with the same values.
bool IsPmiOfSlurm(const EnvironmentReader& variables) {
  return IsSlurmTask(variables) &&
         variables.Text("PMI_RANK") == variables.Text("SLURM_PROCID") &&
         !variables.Has("MPI_LOCALRANKID");  // set by mpiexec only
}

SessionPlan PlanOfNearest(EnvironmentReader& variables) {
  if (variables.Has("RANK")) return PlanOfEnvironment(variables);
  if (variables.Has("OMPI_COMM_WORLD_RANK")) return PlanOfOpenMpi(variables);
  if (variables.Has("PMI_RANK") && !IsPmiOfSlurm(variables)) {
    return PlanOfPmi(variables);
  }
  if (IsSlurmTask(variables)) return PlanOfSlurm(variables);
  return SessionPlan();
}

void Within(EnvironmentReader& variables, const char* what, int rank,
            const char* of, std::optional<int> size) {
  if (size && rank >= *size) {
    variables.Refuse(absl::StrCat(what, " ", rank, " does not exist in ", of,
                                  " ", *size, ": ranks count from 0"));
  }
}

// Checks for contradictions, whichever launcher set the variables.
void Judge(EnvironmentReader& variables, const SessionPlan& plan) {
  const std::string by = absl::StrCat(" (as ", Name(plan.launcher), " has it)");
  Within(variables, "rank", plan.rank, "a world of size", plan.world_size);
  Within(variables, "local rank", plan.local_rank, "a local world of size",
         plan.local_world_size);
  if (plan.group_rank) {
    Within(variables, "group rank", *plan.group_rank, "a group world of size",
           plan.group_world_size);
  }
  for (const auto& [what, size] :
       {std::pair("local world size", plan.local_world_size),
        {"group world size", plan.group_world_size}}) {
    if (size && *size > plan.world_size) {
      variables.Refuse(absl::StrCat(
          what, " ", *size, " is above the world size ", plan.world_size, by));
    }
  }
  // Set for other processes, for example by a batch script that exports it
  // before srun.
  const auto stated = variables.Number("WORLD_SIZE", 1, kMostRanks);
  if (stated && *stated > 1 && plan.launcher == Launcher::kAlone) {
    variables.Refuse(variables.Shown("WORLD_SIZE") +
                     ", but RANK is not set; set both or neither");
  } else if (stated && *stated != plan.world_size) {
    variables.Refuse(absl::StrCat(
        variables.Shown("WORLD_SIZE"), ", but the world has ", plan.world_size,
        " ranks", by, "; unset WORLD_SIZE, or set RANK too"));
  }
}

}  // namespace

const char* Name(Launcher launcher) {
  switch (launcher) {
    case Launcher::kAlone:
      return "nobody";
    case Launcher::kMuster:
      return "launch";
    case Launcher::kTorchrun:
      return "torchrun";
    case Launcher::kEnvironment:
      return "the environment";
    case Launcher::kOpenMpi:
      return "mpirun";
    case Launcher::kPmi:
      return "mpiexec";
    case Launcher::kSlurm:
      return "srun";
  }
  return "?";
}

absl::StatusOr<SessionPlan> PlanSession(
    const std::map<std::string, std::string>& environment) {
  EnvironmentReader variables(environment);
  SessionPlan plan = PlanOfNearest(variables);
  plan.progress_socket = variables.Text("MUSTER_PROGRESS_SOCKET");
  if (plan.world_size == 1) {
    if (!plan.local_world_size) plan.local_world_size = 1;
    if (!plan.group_rank) plan.group_rank = 0;
    if (!plan.group_world_size) plan.group_world_size = 1;
  }
  Judge(variables, plan);
  if (!variables.status().ok()) return variables.status();
  return plan;
}

}  // namespace muster
