#include "rendezvous/job/world.h"

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "rendezvous/protocol/electorate.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

// The largest possible world size, kMaxNodes nodes with kMaxSlots workers each,
// fits an int. So LayOut cannot overflow.
static_assert(int64_t{kMaxNodes} * kMaxSlots <=
              std::numeric_limits<int>::max());

Place World::PlaceOf(int group_rank, int round) const {
  const Member& member = members.at(group_rank);
  Place place;
  place.round = round;
  place.epoch = epoch;
  place.group_rank = group_rank;
  place.group_world_size = size();
  place.first_rank = member.first_rank;
  place.world_size = world_size;
  place.role_first_rank = member.role_first_rank;
  place.role_world_size = member.role_world_size;
  place.restart_count = restart_count;
  place.reached_step = reached_step;
  place.master_address = master_address;
  place.master_port = master_port;
  place.nccl_id = nccl_id;
  // Only the node with group rank 0 serves the round's store and needs the list
  // of the store's clients. The list grows with the number of nodes, so the
  // other directives omit it.
  if (group_rank == 0) place.store_clients = store_clients;
  place.members = ListedMembers();
  place.incarnations = ListedIncarnations();
  place.electorate = electorate;
  place.electors = electors;
  return place;
}

std::vector<std::string> World::ListedMembers() const {
  std::vector<std::string> ids;
  if (size() > kMaxListedElectors) return ids;
  for (const Member& member : members) {
    ids.push_back(member.node_id.empty() ? member.host : member.node_id);
  }
  return ids;
}

std::vector<uint64_t> World::ListedIncarnations() const {
  std::vector<uint64_t> incarnations;
  if (size() > kMaxListedElectors) return incarnations;
  for (const Member& member : members) {
    incarnations.push_back(member.incarnation);
  }
  return incarnations;
}

void World::SetMember(const Place& place, const NodeIdentity& node) {
  members.at(place.group_rank) = {.node_id = node.node_id,
                                  .host = node.host,
                                  .incarnation = node.incarnation,
                                  .first_rank = place.first_rank,
                                  .role_first_rank = place.role_first_rank,
                                  .role_world_size = place.role_world_size,
                                  .slots = node.slots};
}

void World::RememberDeparture(const std::string& node_id, int group_rank,
                              const std::string& how) {
  if (group_rank < 0 || group_rank >= size()) return;
  Member& member = members[group_rank];
  if (member.node_id != node_id) return;
  if (member.departure.empty()) member.departure = how;
}

std::vector<std::string> StoreClients(
    const std::vector<std::vector<std::string>>& by_member, size_t most) {
  std::vector<std::string> clients;
  std::set<std::string_view> seen;
  bool is_more = true;
  for (size_t i = 0; is_more; ++i) {
    is_more = false;
    for (const std::vector<std::string>& addresses : by_member) {
      if (i >= addresses.size()) continue;
      is_more = true;
      if (clients.size() >= most) return clients;
      if (seen.insert(addresses[i]).second) clients.push_back(addresses[i]);
    }
  }
  return clients;
}

World LayOut(const std::vector<const NodeIdentity*>& by_group_rank) {
  World world;
  std::map<std::string, int> role_sizes;
  for (const NodeIdentity* node : by_group_rank) {
    World::Member member;
    member.node_id = node->node_id;
    member.host = node->host;
    member.incarnation = node->incarnation;
    member.first_rank = world.world_size;
    member.role_first_rank = role_sizes[node->role];
    member.slots = node->slots;
    world.world_size += node->slots;
    role_sizes[node->role] += node->slots;
    world.members.push_back(std::move(member));
  }
  for (size_t i = 0; i < by_group_rank.size(); ++i) {
    world.members[i].role_world_size = role_sizes[by_group_rank[i]->role];
  }
  return world;
}

}  // namespace muster::rendezvous
