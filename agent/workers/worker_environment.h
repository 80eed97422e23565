#ifndef MUSTER_AGENT_WORKERS_WORKER_ENVIRONMENT_H_
#define MUSTER_AGENT_WORKERS_WORKER_ENVIRONMENT_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/binding/binding_plan.h"
#include "rendezvous/protocol/directive.h"

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

// The settings of the environment that all workers of a node share, fixed
// before the first round.
struct EnvironmentPlan {
  std::string run_id;
  std::string node_id;
  std::string role = "default";
  int local_world_size = 1;
  int max_restarts = 0;
  // --signals-to-handle as given: "SIGTERM,SIGINT"
  std::string signals_to_handle;
  // CUDA_VISIBLE_DEVICES of each worker, by local rank. Empty: the agent's own
  // value is passed on.
  std::vector<std::string> gpu_of_local_rank;
  // whether HIP_VISIBLE_DEVICES is set like CUDA_VISIBLE_DEVICES
  bool sets_hip = false;
  // --virtual-local-rank: LOCAL_RANK is 0 in every worker
  bool virtual_local_rank = false;
  rendezvous::StoreHost store_host = rendezvous::StoreHost::kAgent;
  int cores = 1;  // number of cores that this node's workers share
  // CPUs, NUMA node and nearest network card of each worker, by local rank;
  // empty: the workers are not bound to CPUs
  std::vector<WorkerBinding> bindings;
  // HOST:PORT of the coordinator, for MUSTER_COORDINATOR
  std::string coordinator_endpoint;
  std::vector<FrameworkEnv> framework_envs;
  // Variables from a configuration file. They take precedence over inherited
  // variables, but not over the variables that describe the worker's place in
  // the world.
  std::map<std::string, std::string> more;
};

// Paths and addresses of one worker in one round; each may be empty.
struct WorkerPaths {
  std::string error_file;
  // path of the Unix datagram socket for the worker's progress reports
  std::string progress_socket;
  std::string node_address;     // address at which other nodes reach this node
  std::string preemption_file;  // path of the file that announces a preemption
  // path of the named pipe for the worker's timer requests (FileTimers)
  std::string timer_file;
};

// Returns the variables that worker `local_rank` of `place` gets in addition to
// `inherited`:
//
//   * torchrun's, with the same names (docs/CLI.md lists them);
//   * MUSTER_RUN_ID, MUSTER_NODE_ID, MUSTER_ROUND, MUSTER_COORDINATOR,
//     MUSTER_NODE_ADDRESS, MUSTER_PROGRESS_SOCKET, MUSTER_PREEMPTION_FILE;
//   * for a bound worker MUSTER_CPU_SET and, if known, MUSTER_NEAR_NIC;
//   * MUSTER_NCCL_ID if the round has an NCCL id;
//   * CUDA_VISIBLE_DEVICES if `plan.gpu_of_local_rank` is not empty;
//   * FrameworkVariables;
//   * those variables of `plan.more` that none of the lines above sets.
//
// `gpu_of_local_rank` is empty or has `local_world_size` elements. Pure.
std::vector<std::pair<std::string, std::string>> WorkerEnvironment(
    const EnvironmentPlan& plan, const rendezvous::Place& place, int local_rank,
    const WorkerPaths& paths,
    const std::map<std::string, std::string>& inherited);

// Returns the names of the agent's variables that its workers must not inherit,
// for WorkerSpec::unset:
//
// - the variable with the job's secret token;
// - the variables by which an init system communicates with the agent;
// - the variables with a worker's channel key, cores, network card and NCCL id.
//   The agent has these if it is itself a worker of an outer job.
std::vector<std::string> WithheldFromWorkers();

// Whether WorkerEnvironment sets the variable `name` itself and ignores its
// value in a configuration file or the agent's environment. Pure.
bool IsSetByAgent(const std::string& name);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_WORKERS_WORKER_ENVIRONMENT_H_
