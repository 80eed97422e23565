#ifndef MUSTER_AGENT_PREEMPTION_REQUEUE_COMMAND_H_
#define MUSTER_AGENT_PREEMPTION_REQUEUE_COMMAND_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::agent {

// The command that puts the Slurm job of `environment` back into its queue:
// scontrol, looked up in PATH, with the job's number, or of a task of a job
// array ARRAY_TASK (SLURM_ARRAY_JOB_ID and SLURM_ARRAY_TASK_ID), so that its
// siblings stay where they are; see scontrol(1), "requeue". Pure.
//
// FailedPrecondition: there is no job to put back, or what Slurm's variables
// say is no number; one sentence.
absl::StatusOr<std::vector<std::string>> RequeueCommand(
    const std::map<std::string, std::string>& environment);

// Why a job of which `scontrol show job` prints `shown` is not to be put back,
// in one clause; empty: nothing is against it. Slurm would put back a job too
// that somebody has just cancelled. Pure.
std::string AgainstRequeue(const std::string& shown);

// Whether `shown` hides the job's state: while Slurm delivers a signal or takes
// a node out of the job, it prints that instead. Ask again. Pure.
bool HidesState(const std::string& shown);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PREEMPTION_REQUEUE_COMMAND_H_
