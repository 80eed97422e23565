#include "trainer_sdk/tcp/tcp_transport.h"

#include <sched.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "trainer_sdk/tcp/rendezvous.h"
#include "trainer_sdk/tcp/tcp_mesh.h"

namespace muster {
namespace {

// Yielding without need costs milliseconds whenever another program wants the
// core.
TcpMesh::Between BetweenTries(const std::vector<PeerName>& names, int rank) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) {
    return TcpMesh::Between::kYield;
  }
  const auto here = std::count_if(
      names.begin(), names.end(),
      [&](const PeerName& name) { return name.host == names[rank].host; });
  return here <= CPU_COUNT(&cores) ? TcpMesh::Between::kSpin
                                   : TcpMesh::Between::kYield;
}

}  // namespace

absl::StatusOr<std::unique_ptr<NetworkTransport>> NewTcpTransport(
    GroupPlace place, const TcpOptions& options, Instant deadline) {
  const absl::StatusOr<std::string> address = LocalAddress(options.address);
  if (!address.ok()) return address.status();
  absl::StatusOr<ConnectedRanks> ranks =
      ConnectRanks(place, *address, deadline);
  if (!ranks.ok()) return ranks.status();
  MUSTER_CHECK(options.told_as.empty() ||
               options.told_as.size() == ranks->names.size())
      << "every rank is told as one";
  for (size_t rank = 0; rank < options.told_as.size(); ++rank) {
    ranks->names[rank].rank = options.told_as[rank];
  }
  const TcpMesh::Options how{BetweenTries(ranks->names, place.rank),
                             options.spin, options.keep_bytes, options.linger};
  auto mesh = std::make_unique<TcpMesh>(place.rank, std::move(ranks->names),
                                        std::move(ranks->sockets), how);
  return std::make_unique<NetworkTransport>("tcp", std::move(place),
                                            std::move(mesh));
}

}  // namespace muster
