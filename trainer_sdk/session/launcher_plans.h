#ifndef MUSTER_TRAINER_SDK_SESSION_LAUNCHER_PLANS_H_
#define MUSTER_TRAINER_SDK_SESSION_LAUNCHER_PLANS_H_

#include <string>

#include "trainer_sdk/session/environment_reader.h"
#include "trainer_sdk/session/session_plan.h"

namespace muster {

// Each function reads the variables of one launcher. Errors are kept in
// `variables`. Pure.
SessionPlan PlanOfEnvironment(EnvironmentReader& variables);
SessionPlan PlanOfOpenMpi(EnvironmentReader& variables);
SessionPlan PlanOfPmi(EnvironmentReader& variables);
SessionPlan PlanOfSlurm(EnvironmentReader& variables);

// Whether this process is a task of an srun. A batch script and an allocation's
// shell have most of Slurm's variables too, but are not tasks.
bool IsSlurmTask(const EnvironmentReader& variables);

// A port for a job without a configured one, the same for every process with
// this `job`. Range 15000 to 29999, in which neither common services nor the
// kernel's ephemeral ports usually are.
int DerivedPort(const std::string& job);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SESSION_LAUNCHER_PLANS_H_
