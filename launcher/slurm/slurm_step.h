#ifndef MUSTER_LAUNCHER_SLURM_SLURM_STEP_H_
#define MUSTER_LAUNCHER_SLURM_SLURM_STEP_H_

#include <string>

namespace muster::launcher {

// The id, "7.0", of the step `name` in what `squeue -o %i|%j` printed; empty:
// it is not there. Pure.
std::string FindStep(const std::string& squeue, const std::string& name);

// Whether squeue or scancel, which printed `said`, no longer knows the job or
// the step: Slurm is ending it, and signals its tasks itself. Pure.
bool EndsAnyway(const std::string& said);

// Sends a signal to every task of the job's step `name`, by squeue and
// scancel; the sentence tells why that could not be, empty if it was done or
// Slurm does it itself, since it ends the job. Blocks, for 30 s at most. srun
// would pass on but a few signals, and kill the tasks at once at SIGTERM.
std::string SignalStep(const std::string& job_id, const std::string& name,
                       int signal);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SLURM_SLURM_STEP_H_
