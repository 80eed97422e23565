#ifndef MUSTER_AGENT_PREEMPTION_REQUEUE_COMMAND_H_
#define MUSTER_AGENT_PREEMPTION_REQUEUE_COMMAND_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::agent {

// The command that requeues the Slurm job of `environment`: scontrol, found in
// PATH, with the job's number. For a task of a job array the number is
// ARRAY_TASK (SLURM_ARRAY_JOB_ID and SLURM_ARRAY_TASK_ID), so that other tasks
// are not requeued; see scontrol(1), "requeue". Pure.
//
// FailedPrecondition, one sentence: no Slurm job, or a variable of Slurm is no
// number.
absl::StatusOr<std::vector<std::string>> RequeueCommand(
    const std::map<std::string, std::string>& environment);

// Why the job must not be requeued, from the output of `scontrol show job`;
// empty: it may be requeued. Slurm would requeue even a job that a user has
// just cancelled. Pure.
std::string AgainstRequeue(const std::string& shown);

// Whether `shown` lacks the job's state: Slurm prints another state while it
// delivers a signal or removes a node from the job. The caller repeats the
// query. Pure.
bool HidesState(const std::string& shown);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PREEMPTION_REQUEUE_COMMAND_H_
