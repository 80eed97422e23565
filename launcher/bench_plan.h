#ifndef MUSTER_LAUNCHER_BENCH_PLAN_H_
#define MUSTER_LAUNCHER_BENCH_PLAN_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// What `launch bench` does.
struct BenchPlan {
  enum class Way {
    kHelp,
    kWorker,  // this is a worker of a job: become the measuring program
    kJob,     // run a job of it
  };
  Way way = Way::kJob;
  // kWorker: the program's arguments. kJob: launch's, the program included.
  std::vector<std::string> arguments;
  int root = 0;  // the bench's -r
};

// Whether this process was started as a rank of a job: by launch or torchrun
// (RANK), mpirun (OMPI_COMM_WORLD_RANK, PMI_RANK) or srun (SLURM_PROCID within
// a step; a batch script has it as well, but in no step). Pure.
bool IsWorker(const std::map<std::string, std::string>& environment);

// `arguments`: what follows `bench`; flags of launch come before the
// operation, the bench's own behind it. `program`: the measuring one. Pure.
// InvalidArgument, one line.
absl::StatusOr<BenchPlan> PlanBench(
    const std::vector<std::string>& arguments,
    const std::map<std::string, std::string>& environment,
    const std::string& program);

// InvalidArgument: the root is no rank of the job that `options` start. A world
// whose size only the nodes know is not checked. Pure.
absl::Status CheckRoot(const BenchPlan& plan, const RunOptions& options);

// Where the measuring program may be, in the order to look: MUSTER_BENCH in the
// environment, beside `launch`, and where a build leaves it. Pure.
std::vector<std::string> BenchProgramPaths(
    const std::map<std::string, std::string>& environment,
    const std::string& launch_path);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_BENCH_PLAN_H_
