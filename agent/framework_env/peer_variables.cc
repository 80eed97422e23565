#include "agent/framework_env/peer_variables.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "base/net/socket_address.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::agent {

PeerVariables TensorFlowVariables(const PeerWorld& world) {
  nlohmann::ordered_json config;
  config["cluster"]["worker"] = world.addresses;
  config["task"]["type"] = "worker";
  config["task"]["index"] = world.rank;
  return {{"TF_CONFIG", config.dump()}};
}

PeerVariables JaxVariables(const PeerWorld& world, int world_size) {
  const std::string rank = std::to_string(world.rank);
  const std::string size = std::to_string(world_size);
  return {{"JAX_COORDINATOR_ADDRESS", world.addresses.front()},
          {"JAX_NUM_PROCESSES", size},
          {"JAX_PROCESS_ID", rank},
          {"JAX_LOCAL_DEVICE_IDS", std::to_string(world.local_device)},
          // JAX tests only whether this variable exists; its value is not used.
          {"OMPI_MCA_orte_hnp_uri",
           absl::StrCat("0.0;tcp://", world.addresses.front())},
          {"OMPI_COMM_WORLD_SIZE", size},
          {"OMPI_COMM_WORLD_RANK", rank},
          {"OMPI_COMM_WORLD_LOCAL_RANK", std::to_string(world.local_rank)}};
}

std::string PublishedAddress(const std::string& host, int port) {
  return host.empty() ? "" : rendezvous::Endpoint{host, port}.ToString();
}

std::string AddressFromHere(const std::string& published,
                            const std::string& own,
                            const std::string& coordinator) {
  if (own.empty() || IsLoopback(own)) return published;
  const absl::StatusOr<rendezvous::Endpoint> peer =
      rendezvous::ParseEndpoint(published);
  const absl::StatusOr<rendezvous::Endpoint> meeting =
      rendezvous::ParseEndpoint(coordinator);
  if (!peer.ok() || !meeting.ok() || !IsLoopback(peer->host)) return published;
  return rendezvous::Endpoint{meeting->host, peer->port}.ToString();
}

}  // namespace muster::agent
