#ifndef MUSTER_AGENT_FRAMEWORK_ENV_PEER_VARIABLES_H_
#define MUSTER_AGENT_FRAMEWORK_ENV_PEER_VARIABLES_H_

#include <string>
#include <utility>
#include <vector>

namespace muster::agent {

// The addresses of all workers of a world, and the rank of the worker for which
// variables are made.
struct PeerWorld {
  // HOST:PORT of every rank, in the order of the ranks
  std::vector<std::string> addresses;
  int rank = 0;
  // The index of this process's own device among the devices that it sees.
  int local_device = 0;
  int local_rank = 0;
};

using PeerVariables = std::vector<std::pair<std::string, std::string>>;

// TF_CONFIG of a MultiWorkerMirroredStrategy: one task of type "worker" for
// each rank; the first is the chief. Pure.
PeerVariables TensorFlowVariables(const PeerWorld& world);

// The variables for JAX. jax.distributed.initialize() reads
// JAX_COORDINATOR_ADDRESS and JAX_LOCAL_DEVICE_IDS; scripts pass
// JAX_NUM_PROCESSES and JAX_PROCESS_ID to it. If a script passes nothing, JAX
// detects the number of processes and its own rank from four variables of Open
// MPI. Only rank 0's address in `world.addresses` is used. Pure.
PeerVariables JaxVariables(const PeerWorld& world, int world_size);

// The address "host:port", with an IPv6 address in brackets; empty if `host` is
// empty.
std::string PublishedAddress(const std::string& host, int port);

// Returns the address at which this node reaches the service that another node
// publishes at `published`. Usually this is `published` itself.
//
// A node on the coordinator's host may publish a loopback address, which is
// useless on other hosts. `own` is this node's address. If `published` is a
// loopback address and `own` is not, the result has the coordinator's host
// instead. `coordinator` is "HOST:PORT". If it lists several endpoints, the
// coordinator's host is unknown, and the result is `published`. Pure.
std::string AddressFromHere(const std::string& published,
                            const std::string& own,
                            const std::string& coordinator);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FRAMEWORK_ENV_PEER_VARIABLES_H_
