#ifndef MUSTER_AGENT_PREEMPTION_REQUEUE_JOB_H_
#define MUSTER_AGENT_PREEMPTION_REQUEUE_JOB_H_

#include <map>
#include <string>

#include "absl/status/status.h"

namespace muster::agent {

// Puts this process's Slurm job back into its queue (see RequeueCommand), which
// ends this process before long. The error is one line for a person: there is
// no job, no scontrol, Slurm refuses, or does not answer.
absl::Status RequeueJob(const std::map<std::string, std::string>& environment);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PREEMPTION_REQUEUE_JOB_H_
