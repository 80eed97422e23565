#ifndef MUSTER_TRAINER_SDK_SESSION_SESSION_PLAN_H_
#define MUSTER_TRAINER_SDK_SESSION_SESSION_PLAN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace muster {

// The program that started this process and set its rank.
enum class Launcher {
  kAlone,     // no launcher: a world of one rank
  kMuster,    // Muster's own launcher, `launch`
  kTorchrun,  // PyTorch's torchrun
  // a launcher not listed here, which sets RANK, WORLD_SIZE, MASTER_ADDR and
  // MASTER_PORT
  kEnvironment,
  kOpenMpi,  // Open MPI's mpirun
  kPmi,      // mpiexec of MPICH, Intel MPI and others that use PMI
  kSlurm,    // Slurm's srun
};

// The name of a launcher, such as "torchrun".
const char* Name(Launcher launcher);

// The process that serves the store of the world.
enum class StorePlace {
  kInProcess,  // the world has one process, which keeps the store in its memory
  kAgent,     // the agent, whose store is already running at the master address
  kRankZero,  // rank 0, which starts the store at the master address
};

// This process's place in the world, as its environment variables state it. The
// values are consistent: 0 <= rank < world_size, and so on.
struct SessionPlan {
  Launcher launcher = Launcher::kAlone;
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;
  // Number of ranks on this node. This field, group_rank and group_world_size
  // are not set if the launcher does not provide them.
  std::optional<int> local_world_size;
  std::optional<int> group_rank;        // index of this node in the world
  std::optional<int> group_world_size;  // number of nodes

  int restart_count = 0;
  int64_t round = 0;   // number of the round (the job's world); 0: no agent
  std::string run_id;  // name that the launcher gave the job
  StorePlace store_place = StorePlace::kInProcess;
  // host that serves the store; empty with StorePlace::kInProcess
  std::string master_address;
  int master_port = 0;
  // path of the agent's socket; empty without an agent
  std::string progress_socket;
};

// Reads the plan from the environment variables of a process. Pure.
//
// The first of these variables that is set gives the rank:
// - RANK, set by `launch`, torchrun and everything else that uses env://
// - OMPI_COMM_WORLD_RANK
// - PMI_RANK
// - SLURM_PROCID, but only in a process that srun started as a task
// If none is set, the process is a world of one. In this order, the variables
// of the innermost launcher take precedence.
//
// InvalidArgument: the variables are incomplete, contradictory or out of range.
// The message is one line, names the variable and its value, and says what to
// set.
absl::StatusOr<SessionPlan> PlanSession(
    const std::map<std::string, std::string>& environment);

// Returns a port for a job that has no configured port; equal for every process
// that passes the same `job`. The port is in the range 15000 to 29999, which
// usually contains neither common services nor the kernel's ephemeral ports.
int DerivedPort(const std::string& job);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SESSION_SESSION_PLAN_H_
