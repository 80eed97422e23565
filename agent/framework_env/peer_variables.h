#ifndef MUSTER_AGENT_FRAMEWORK_ENV_PEER_VARIABLES_H_
#define MUSTER_AGENT_FRAMEWORK_ENV_PEER_VARIABLES_H_

#include <string>
#include <utility>
#include <vector>

namespace muster::agent {

// A world of workers that know each other's addresses.
struct PeerWorld {
  std::vector<std::string> addresses;  // HOST:PORT of every rank, in order
  int rank = 0;
  // The device that is this process's own: its place among those it sees.
  int local_device = 0;
  int local_rank = 0;
};

using PeerVariables = std::vector<std::pair<std::string, std::string>>;

// TF_CONFIG of a MultiWorkerMirroredStrategy: one task of type "worker" a rank,
// of which the first is the chief. Pure.
PeerVariables TensorFlowVariables(const PeerWorld& world);

// JAX_COORDINATOR_ADDRESS and JAX_LOCAL_DEVICE_IDS, which
// jax.distributed.initialize() reads; JAX_NUM_PROCESSES and JAX_PROCESS_ID,
// which scripts hand to it; and the four variables of Open MPI by which JAX
// itself finds the number of processes and the process's own where a script
// hands nothing over. `world.addresses` need hold no more than rank 0's. Pure.
PeerVariables JaxVariables(const PeerWorld& world, int world_size);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FRAMEWORK_ENV_PEER_VARIABLES_H_
