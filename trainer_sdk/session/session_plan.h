#ifndef MUSTER_TRAINER_SDK_SESSION_SESSION_PLAN_H_
#define MUSTER_TRAINER_SDK_SESSION_SESSION_PLAN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace muster {

// Who started this process and told it its place.
enum class Launcher {
  kAlone,        // nobody: a world of one
  kMuster,       // launch
  kTorchrun,     // torchrun
  kEnvironment,  // whoever sets RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT
  kOpenMpi,      // Open MPI's mpirun
  kPmi,          // mpiexec of MPICH, Intel MPI and others with PMI
  kSlurm,        // srun
};

// "torchrun".
const char* Name(Launcher launcher);

// Where the world's store is.
enum class StorePlace {
  kInProcess,  // a world of one needs no server
  kAgent,      // there already, at the master's address
  kRankZero,   // rank 0 serves it at the master's address
};

// What the environment says about this process's place in the world. Ranks are
// sound: 0 <= rank < world_size, and so on.
struct SessionPlan {
  Launcher launcher = Launcher::kAlone;
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;
  // The rest of the place; nothing where the launcher does not tell it.
  std::optional<int> local_world_size;
  std::optional<int> group_rank;        // which of the world's nodes this is
  std::optional<int> group_world_size;  // how many nodes

  int restart_count = 0;
  int64_t round = 0;   // the agent's; 0 without one
  std::string run_id;  // the job's name, as its launcher has it
  StorePlace store_place = StorePlace::kInProcess;
  std::string master_address;  // empty with kInProcess
  int master_port = 0;
  std::string progress_socket;  // empty without an agent
};

// Reads the plan from a process's environment. Pure.
//
// RANK tells of `launch`, torchrun or anything else that speaks env://, and
// goes before OMPI_COMM_WORLD_RANK, that before PMI_RANK, and that before a
// Slurm step's SLURM_PROCID: whatever is nearer to the process. Without any
// of them it is alone.
//
// InvalidArgument: what is set is incomplete, contradictory or absurd; the
//   message is one line, names the variable and its value, and says what to
//   set.
absl::StatusOr<SessionPlan> PlanSession(
    const std::map<std::string, std::string>& environment);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SESSION_SESSION_PLAN_H_
