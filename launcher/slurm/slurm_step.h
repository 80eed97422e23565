#ifndef MUSTER_LAUNCHER_SLURM_SLURM_STEP_H_
#define MUSTER_LAUNCHER_SLURM_SLURM_STEP_H_

#include <string>

namespace muster::launcher {

// Finds the id, for example "7.0", of the step `name` in the output of `squeue
// -o %i|%j`. Empty: not found. Pure.
std::string FindStep(const std::string& squeue, const std::string& name);

// Whether `said`, printed by squeue or scancel, means that Slurm does not know
// the job or step any more. Slurm is then ending the step, and signals its
// tasks itself. Pure.
bool EndsAnyway(const std::string& said);

// Sends a signal to every task of the job's step `name` with squeue and
// scancel. Returns the reason of a failure as a sentence; empty: the signal was
// sent, or Slurm is ending the job and signals the tasks itself. Blocks for at
// most 30 s. (srun cannot be used: it forwards only some signals, and kills the
// tasks at once on SIGTERM.)
std::string SignalStep(const std::string& job_id, const std::string& name,
                       int signal);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SLURM_SLURM_STEP_H_
