#ifndef MUSTER_TRAINER_SDK_SESSION_LAUNCHER_PLANS_H_
#define MUSTER_TRAINER_SDK_SESSION_LAUNCHER_PLANS_H_

#include <string>

#include "trainer_sdk/session/environment_reader.h"
#include "trainer_sdk/session/session_plan.h"

namespace muster {

// Each reads one launcher's variables; what is wrong with them the reader
// remembers. Pure.
SessionPlan PlanOfEnvironment(EnvironmentReader& variables);
SessionPlan PlanOfOpenMpi(EnvironmentReader& variables);
SessionPlan PlanOfPmi(EnvironmentReader& variables);
SessionPlan PlanOfSlurm(EnvironmentReader& variables);

// Whether this process is a task of an srun. A batch script and an allocation's
// shell have most of Slurm's variables too, and are no tasks.
bool IsSlurmTask(const EnvironmentReader& variables);

// A port for a job that was given none, equal wherever `job` is: from 15000 to
// 29999, where neither services nor the kernel's own choices usually are.
int DerivedPort(const std::string& job);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SESSION_LAUNCHER_PLANS_H_
