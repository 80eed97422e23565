#ifndef MUSTER_LAUNCHER_CLUSTER_SLURM_SLURM_PLACE_H_
#define MUSTER_LAUNCHER_CLUSTER_SLURM_SLURM_PLACE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::launcher {

using SlurmEnvironment = std::map<std::string, std::string>;

// Where in a Slurm job a process is.
enum class SlurmContext {
  kStep,   // a task that srun started
  kBatch,  // a batch script, or salloc's shell on a node of the job: on one of
           // the nodes
  kShell,  // salloc's shell, on a machine that need be none of the nodes
};

// What Slurm's variables say of this process' place. `step` is used where srun
// started it: a step may be narrower than its job, whose variables lie then.
struct SlurmPlace {
  SlurmContext context = SlurmContext::kShell;
  // "7.0", "5_3.0" in an array, "7+1.0" in a later part of a heterogeneous
  // job, "7.0-r2" after two requeues: another name for each job, step and run,
  // and the same on all nodes.
  std::string run_id;
  uint16_t port = 0;  // where the step's coordinator listens
  // Step: where task 0 runs. Otherwise the job's first node.
  std::string first_host;
  int nodes = 0;                    // of the step, or of the job
  int tasks = 0;                    // of the step
  int tasks_on_a_node = 0;          // of the step: the most
  std::string tasks_per_node;       // as Slurm writes it
  std::optional<int> task;          // of the step: this one
  std::optional<int> task_on_node;  // SLURM_LOCALID
  std::string node_name;            // SLURMD_NODENAME; empty: not known
};

// A variable's value; empty: not set.
std::string SlurmValue(const SlurmEnvironment& environment,
                       const std::string& name);

// InvalidArgument, one line that begins with the variable: what makes no
// sense. Pure.
absl::StatusOr<SlurmPlace> ReadSlurmPlace(const SlurmEnvironment& environment);

// The port of the coordinator of a job's step, from 12000 to 32767: below the
// ports that Linux gives to clients. No two steps of a job have the same unless
// their numbers differ by 20768, and no two jobs among their first 16 steps
// unless their numbers differ by a multiple of 1298 (the tasks of an array are
// jobs with numbers of their own).
uint16_t SlurmPort(uint64_t job, uint64_t step);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CLUSTER_SLURM_SLURM_PLACE_H_
