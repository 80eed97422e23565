#ifndef MUSTER_LAUNCHER_SLURM_SLURM_COMMAND_H_
#define MUSTER_LAUNCHER_SLURM_SLURM_COMMAND_H_

#include <map>
#include <string>
#include <vector>

#include "launcher/options/run_options.h"

namespace muster::launcher {

// `launch --slurm PROGRAM`: runs srun, which runs the same `launch` without
// --slurm on each node of the allocation, and passes signals on to these. The
// exit code is the job's, where task 0 can tell it (job_result.h); else srun's,
// the highest of its tasks'. `name`: what messages begin with, the tasks' too.
// Call while the process has one thread.
int SlurmCommand(const std::string& name, const std::vector<std::string>& args,
                 const RunOptions& options,
                 const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SLURM_SLURM_COMMAND_H_
