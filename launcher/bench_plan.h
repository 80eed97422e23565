#ifndef MUSTER_LAUNCHER_BENCH_PLAN_H_
#define MUSTER_LAUNCHER_BENCH_PLAN_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// The parsed command line of `launch bench`.
struct BenchPlan {
  enum class Way {
    kHelp,
    kWorker,  // this process is a worker of a job: exec the measuring program
    kJob,     // start a job whose workers are the measuring program
  };
  Way way = Way::kJob;
  // kWorker: arguments of the measuring program. kJob: arguments of `launch`,
  // including the measuring program.
  std::vector<std::string> arguments;
  int root = 0;  // root rank of the measured operation (-r)
};

// Whether this process was started as a rank of a job: by launch or torchrun
// (RANK), by mpirun (OMPI_COMM_WORLD_RANK, PMI_RANK), or by srun (SLURM_PROCID
// within a step). A batch script also has SLURM_PROCID, but is in no step.
// Pure.
bool IsWorker(const std::map<std::string, std::string>& environment);

// Parses `arguments`, the arguments after `bench`: first flags of `launch`,
// then the operation, then flags of the bench. `program`: path of the measuring
// program. Pure. InvalidArgument: the message is one line.
absl::StatusOr<BenchPlan> PlanBench(
    const std::vector<std::string>& arguments,
    const std::map<std::string, std::string>& environment,
    const std::string& program);

// Checks that the bench's root is a rank of the job that `options` start.
// InvalidArgument: it is not. If `options` give the number of workers as a
// word, such as "gpu", only the nodes know the number: returns OK. Pure.
absl::Status CheckRoot(const BenchPlan& plan, const RunOptions& options);

// Candidate paths of the measuring program, in the order to try: MUSTER_BENCH
// in the environment, the folder of `launch`, and the build's output folder.
// Pure.
std::vector<std::string> BenchProgramPaths(
    const std::map<std::string, std::string>& environment,
    const std::string& launch_path);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_BENCH_PLAN_H_
