#include "absl/strings/str_cat.h"
#include "trainer_sdk/session/launcher_plans.h"

namespace muster {
namespace {

// The part that does not depend on the names of the variables. `job`: a name of
// this mpirun that all ranks know; empty if there is none.
SessionPlan WithMaster(EnvironmentReader& variables, SessionPlan plan,
                       const std::string& job) {
  plan.run_id = job;
  const bool one_host = plan.local_world_size == plan.world_size;
  if (one_host) {
    plan.group_rank = 0;
    plan.group_world_size = 1;
  }
  if (plan.world_size == 1) return plan;

  plan.store_place = StorePlace::kRankZero;
  plan.master_address = variables.Text("MASTER_ADDR");
  if (plan.master_address.empty()) {
    plan.master_address = "127.0.0.1";
    if (!one_host) {
      variables.Refuse(
          "MASTER_ADDR is not set, and mpirun does not say where rank 0 is; "
          "start with: mpirun -x MASTER_ADDR=<address of rank 0's host>");
    }
  }
  plan.master_port = variables.Number("MASTER_PORT", 1, 65535)
                         .value_or(job.empty() ? 0 : DerivedPort(job));
  if (plan.master_port == 0) {
    variables.Refuse(
        "MASTER_PORT is not set, and this mpiexec gives the job no name to "
        "derive it from; set it to a port that is free on rank 0's host");
  }
  return plan;
}

}  // namespace

SessionPlan PlanOfOpenMpi(EnvironmentReader& variables) {
  SessionPlan plan;
  plan.launcher = Launcher::kOpenMpi;
  plan.rank =
      variables.Number("OMPI_COMM_WORLD_RANK", 0, kMostRanks - 1).value_or(0);
  plan.world_size = variables.Required("OMPI_COMM_WORLD_SIZE", 1, kMostRanks,
                                       "OMPI_COMM_WORLD_RANK");
  plan.local_rank = variables.Required("OMPI_COMM_WORLD_LOCAL_RANK", 0,
                                       kMostRanks - 1, "OMPI_COMM_WORLD_RANK");
  plan.local_world_size = variables.Required(
      "OMPI_COMM_WORLD_LOCAL_SIZE", 1, kMostRanks, "OMPI_COMM_WORLD_RANK");
  const std::string job = variables.Text(
      variables.FirstSet({"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}));
  return WithMaster(variables, plan, job.empty() ? "" : "mpi-" + job);
}

SessionPlan PlanOfPmi(EnvironmentReader& variables) {
  SessionPlan plan;
  plan.launcher = Launcher::kPmi;
  plan.rank = variables.Number("PMI_RANK", 0, kMostRanks - 1).value_or(0);
  plan.world_size = variables.Required("PMI_SIZE", 1, kMostRanks, "PMI_RANK");
  // The names used by MPICH and Intel MPI.
  plan.local_rank =
      variables.Required("MPI_LOCALRANKID", 0, kMostRanks - 1, "PMI_RANK");
  plan.local_world_size = variables.Number("MPI_LOCALNRANKS", 1, kMostRanks);
  return WithMaster(variables, plan, "");
}

}  // namespace muster
