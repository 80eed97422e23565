#ifndef MUSTER_AGENT_PREEMPTION_REQUEUE_JOB_H_
#define MUSTER_AGENT_PREEMPTION_REQUEUE_JOB_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::agent {

// The command that requeues the Slurm job to which `environment` belongs:
// scontrol, found in PATH, with the job's number. If the job is a task of a job
// array, the number is ARRAY_TASK (SLURM_ARRAY_JOB_ID and SLURM_ARRAY_TASK_ID),
// so that only this task is requeued; see scontrol(1), "requeue". Pure.
//
// FailedPrecondition, one sentence: this is no Slurm job, or a variable of
// Slurm is not a number.
absl::StatusOr<std::vector<std::string>> RequeueCommand(
    const std::map<std::string, std::string>& environment);

// The reason why the job must not be requeued; empty: it may be requeued.
// `shown`: the output of `scontrol show job`. The check is needed because Slurm
// would requeue even a job that a user has just cancelled. Pure.
std::string AgainstRequeue(const std::string& shown);

// Whether `shown`, the output of `scontrol show job`, lacks the job's real
// state: Slurm prints another state while it delivers a signal or removes a
// node from the job. The caller repeats the query. Pure.
bool HidesState(const std::string& shown);

// Requeues this process's Slurm job (see RequeueCommand). Slurm then soon ends
// this process. The error is one line for the user: there is no job, no
// scontrol, or Slurm refuses or does not answer.
absl::Status RequeueJob(const std::map<std::string, std::string>& environment);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PREEMPTION_REQUEUE_JOB_H_
