#include "trainer_sdk/tcp/tcp_transport.h"

#include <string>
#include <utility>

#include "trainer_sdk/tcp/rendezvous.h"
#include "trainer_sdk/tcp/tcp_mesh.h"

namespace muster {

absl::StatusOr<std::unique_ptr<NetworkTransport>> NewTcpTransport(
    GroupPlace place, const TcpOptions& options, Instant deadline) {
  const absl::StatusOr<std::string> address = LocalAddress(options.address);
  if (!address.ok()) return address.status();
  absl::StatusOr<ConnectedRanks> ranks =
      ConnectRanks(place, *address, deadline);
  if (!ranks.ok()) return ranks.status();
  auto mesh = std::make_unique<TcpMesh>(
      place.rank, std::move(ranks->names), std::move(ranks->sockets),
      TcpMesh::Options{options.spin, options.keep_bytes, options.linger});
  return std::make_unique<NetworkTransport>("tcp", std::move(place),
                                            std::move(mesh));
}

}  // namespace muster
