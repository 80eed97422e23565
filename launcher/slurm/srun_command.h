#ifndef MUSTER_LAUNCHER_SLURM_SRUN_COMMAND_H_
#define MUSTER_LAUNCHER_SLURM_SRUN_COMMAND_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/options/flag.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// An srun command that runs a job's `launch` on each node of an allocation.
struct SrunCommand {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // srun's: "NAME=value", sorted
};

// Returns the srun command for a `launch --slurm` command line. `flags` and
// `args`: the command line; `options`: its parsed form; `program`: this
// program's path; `step_name`: the name of the Slurm step, by which SignalStep
// finds it. The step has one task on each node of the job; with --nnodes=1, on
// one node. The task has all cores and GPUs of the node, whatever tasks the
// batch script requested.
//
// InvalidArgument, one line: this process is not in a Slurm job. Pure.
absl::StatusOr<SrunCommand> PlanSrun(
    const std::vector<Flag>& flags, const std::vector<std::string>& args,
    const RunOptions& options,
    const std::map<std::string, std::string>& environment,
    const std::string& program, const std::string& step_name);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SLURM_SRUN_COMMAND_H_
