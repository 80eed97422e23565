#ifndef MUSTER_LAUNCHER_SLURM_SLURM_COMMAND_H_
#define MUSTER_LAUNCHER_SLURM_SLURM_COMMAND_H_

#include <map>
#include <string>
#include <vector>

#include "launcher/options/run_options.h"

namespace muster::launcher {

// Implements `launch --slurm PROGRAM`. Runs srun, which runs the same command
// line without --slurm on each node of the Slurm allocation. Forwards signals
// to srun's tasks. Returns the job's exit code if task 0 reports it
// (job_result.h), otherwise srun's exit code, which is the highest one of its
// tasks. `name`: the prefix of the messages that this process and the tasks
// print. Call while the process has one thread.
int SlurmCommand(const std::string& name, const std::vector<std::string>& args,
                 const RunOptions& options,
                 const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SLURM_SLURM_COMMAND_H_
