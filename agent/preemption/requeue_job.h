#ifndef MUSTER_AGENT_PREEMPTION_REQUEUE_JOB_H_
#define MUSTER_AGENT_PREEMPTION_REQUEUE_JOB_H_

#include <map>
#include <string>

#include "absl/status/status.h"

namespace muster::agent {

// Requeues this process's Slurm job (see RequeueCommand). Slurm then soon ends
// this process. The error is one line for the user: there is no job, no
// scontrol, or Slurm refuses or does not answer.
absl::Status RequeueJob(const std::map<std::string, std::string>& environment);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PREEMPTION_REQUEUE_JOB_H_
