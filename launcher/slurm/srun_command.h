#ifndef MUSTER_LAUNCHER_SLURM_SRUN_COMMAND_H_
#define MUSTER_LAUNCHER_SLURM_SRUN_COMMAND_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/options/flag.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// The srun that runs a job's `launch` on each node of an allocation.
struct SrunCommand {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // "NAME=value", sorted
};

// What `launch --slurm` becomes. `flags` and `args` are its command line,
// `options` what that said, `program` this program's path, `step_name` the
// name that the step gets, by which Slurm finds it. The step has one task on
// each node of the job (of one, with --nnodes=1), all its cores and all its
// GPUs, whatever tasks the job's script asked for.
//
// InvalidArgument, one line: this process is in no Slurm job. Pure.
absl::StatusOr<SrunCommand> PlanSrun(
    const std::vector<Flag>& flags, const std::vector<std::string>& args,
    const RunOptions& options,
    const std::map<std::string, std::string>& environment,
    const std::string& program, const std::string& step_name);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SLURM_SRUN_COMMAND_H_
