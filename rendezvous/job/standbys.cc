#include "rendezvous/job/standbys.h"

#include <algorithm>

#include "rendezvous/protocol/electorate.h"

namespace muster::rendezvous {

Standbys Standbys::Of(const World& world, const Membership& nodes,
                      const std::string& own_endpoint) {
  Standbys chosen;
  for (int rank = 0; rank < world.size(); ++rank) {
    const Node* const node = nodes.Find(world.members[rank].node_id);
    if (node == nullptr || node->standby_endpoint.empty()) continue;
    if (node->standby_endpoint == own_endpoint) {
      chosen.host_rank = rank;
    } else if (chosen.endpoints.size() < kMaxStandbys) {
      chosen.endpoints.push_back(node->standby_endpoint);
    }
  }
  return chosen;
}

bool Standbys::Add(const Node& node, const std::string& own_endpoint) {
  const std::string& endpoint = node.standby_endpoint;
  if (node.going || endpoint.empty() || endpoint == own_endpoint ||
      endpoints.size() >= kMaxStandbys ||
      std::ranges::find(endpoints, endpoint) != endpoints.end()) {
    return false;
  }
  endpoints.push_back(endpoint);
  return true;
}

void Standbys::Remove(const Node& gone) {
  std::erase(endpoints, gone.standby_endpoint);
}

}  // namespace muster::rendezvous
