#ifndef MUSTER_AGENT_WORKERS_FRAMEWORK_VARIABLES_H_
#define MUSTER_AGENT_WORKERS_FRAMEWORK_VARIABLES_H_

#include <string>
#include <utility>
#include <vector>

namespace muster::agent {

// The launchers and frameworks whose variables workers can get in addition to
// torchrun's.
enum class FrameworkEnv { kTensorFlow, kJax, kMpi, kDeepSpeed, kAccelerate };

// The place of one worker in the world, in the terms of other launchers.
struct WorkerPlace {
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;  // rank among the workers of its node
  int local_world_size = 1;
  int node = 0;  // group rank of the worker's node
  int nodes = 1;
};

// Returns the variables of each of `framework_envs`, as far as they depend only
// on the worker's place:
//
//   mpi         OMPI_COMM_WORLD_* and OMPI_UNIVERSE_SIZE as set by Open MPI's
//               mpirun, PMI_RANK, PMI_SIZE and MPI_LOCAL* as set by MPICH's
//               hydra. Omits the variables by which an MPI library finds its
//               launcher, so MPI_Init creates a world of one process.
//   deepspeed   CROSS_RANK, CROSS_SIZE, LOCAL_SIZE
//   accelerate  ACCELERATE_*, with the defaults of `accelerate launch`
//
// TensorFlow and JAX also need the other workers' addresses: see
// agent/framework_env. Pure.
std::vector<std::pair<std::string, std::string>> FrameworkVariables(
    const std::vector<FrameworkEnv>& framework_envs, const WorkerPlace& place);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_WORKERS_FRAMEWORK_VARIABLES_H_
