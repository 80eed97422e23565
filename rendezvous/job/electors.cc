#include "rendezvous/job/electors.h"

#include <iterator>

#include "rendezvous/job/constituency.h"

namespace muster::rendezvous {

Electors Electors::Of(const Electorate& electorate) {
  return {.world = electorate.world,
          .nodes = electorate.nodes,
          .members = electorate.members,
          .incarnations = electorate.incarnations};
}

Electors Electors::Of(const World& world, int round, const Membership& nodes) {
  Electors electors{.world = {.epoch = world.epoch, .round = round},
                    .nodes = world.size(),
                    .members = world.ListedMembers(),
                    .incarnations = world.ListedIncarnations()};
  for (int rank = 0; rank < world.size(); ++rank) {
    const World::Member& member = world.members[rank];
    const Node* const node = nodes.Find(member.node_id);
    const bool is_same =
        node != nullptr && node->identity.incarnation == member.incarnation;
    if (!is_same) continue;
    electors.Add(member.node_id,
                 {.rank = rank, .incarnation = member.incarnation});
  }
  return electors;
}

bool Electors::Add(const std::string& node_id, const Elector& elector) {
  if (elector.rank < 0 || elector.rank >= nodes || known.contains(node_id) ||
      !ranks.insert(elector.rank).second) {
    return false;
  }
  known[node_id] = elector;
  return true;
}

int Electors::Join(const Report& report) {
  const int rank = VotingRank(report, world, members, incarnations);
  const NodeIdentity& agent = report.node;
  return Add(agent.node_id, {.rank = rank, .incarnation = agent.incarnation})
             ? rank
             : -1;
}

void Electors::Leave(const NodeIdentity& agent) {
  if (!Has(agent)) return;
  known[agent.node_id].is_gone = true;
  ++gone;
}

bool Electors::Has(const NodeIdentity& node) const {
  const auto found = known.find(node.node_id);
  return found != known.end() && !found->second.is_gone &&
         found->second.incarnation == node.incarnation;
}

int Electors::RankOf(const NodeIdentity& node, const JobSpec& spec) const {
  const auto found = known.find(node.node_id);
  if (found == known.end() || found->second.is_gone) return -1;
  const bool is_same = found->second.incarnation == node.incarnation;
  return is_same || spec.RestartedAgentsElect() ? found->second.rank : -1;
}

bool Electors::AreHalf(int present, int left, const JobSpec& spec) const {
  const bool others_may_begin = spec.takeover == Takeover::kAuto &&
                                !spec.RestartedAgentsElect() &&
                                2 * present < spec.min_nodes;
  return 2 * (present + (others_may_begin ? 0 : left)) >= nodes;
}

LaterWorld LaterWorld::After(const WorldId& electorate,
                             const std::vector<const Report*>& reports) {
  const Place* found = nullptr;
  for (const Report* report : reports) {
    if (!report->place.has_value()) continue;
    const WorldId newest = found == nullptr ? electorate : IdOf(*found);
    if (newest < IdOf(*report->place)) found = &*report->place;
  }
  if (found == nullptr) return {};
  LaterWorld later{.world = IdOf(*found),
                   .needed = found->group_world_size / 2 + 1,
                   .place = *found};
  const Electorate newest = NewestElectorate(reports);
  if (found->electorate == newest.world) {
    later.candidates =
        CandidatesOf(newest.nodes, newest.members, found->members);
  }
  return later;
}

LaterWorld LaterWorld::Formed(const WorldId& world,
                              const std::vector<const Node*>& members) {
  LaterWorld later{.world = world, .needed = 1};
  for (const Node* member : members) {
    later.members[member->identity.node_id] = member->identity.incarnation;
  }
  return later;
}

void LaterWorld::Follow(const Node& node, const Report& report, uint64_t epoch,
                        const WorldId& electorate, const JobSpec& spec) {
  if (!exists()) return;
  // A node that has promised to obey no older coordinator, and has not begun
  // this world, never begins it. If such a node belongs to this world, the
  // world never runs on all of its nodes.
  const bool has_promised = report.promised_epoch >= epoch;
  if (has_promised && IsUnawareMember(report, place)) {
    *this = {};
    return;
  }
  if (has_promised && candidates.has_value()) {
    const int rank = UnawareRank(report, place, electorate);
    if (rank >= 0) unaware.insert(rank);
    if (IsMemberUnaware(static_cast<int>(unaware.size()), place.electors,
                        *candidates)) {
      *this = {};
      return;
    }
  }
  const bool has_stopped =
      !HasProcesses(report.phase) && report.electorate.epoch >= epoch;
  if (!has_stopped) return;
  const int rank = RankOf(report, world);
  if (rank >= 0) stopped.insert(rank);
  const std::string& id = node.identity.node_id;
  const auto member = members.find(id);
  const bool is_member =
      member != members.end() && member->second == node.identity.incarnation;
  // Whether this node, a member of a world that this coordinator has formed,
  // certainly never begins that world. True if the node was lost, has returned
  // without workers, and has then seen a newer directive (must_have_seen).
  const bool is_out =
      is_member && node.part == Part::kNone && node.seen >= node.must_have_seen;
  // `reached` counts nodes that will never run a worker of this world. A member
  // of a world that this coordinator has formed may still start its workers, so
  // it does not count.
  if (!node.is_spare && !is_member) reached.insert(id);
  const bool have_stopped = std::ssize(stopped) >= needed;
  const auto most = static_cast<int>(reached.size());
  if (is_out || have_stopped || OthersAreTooFew(spec, most, {})) {
    *this = {};
  }
}

}  // namespace muster::rendezvous
