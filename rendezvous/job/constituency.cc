#include "rendezvous/job/constituency.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace muster::rendezvous {
namespace {

// Whether the electorate in a node's report gives no sign of a round. It then
// names no world, and its epoch is one of these two:
// - 0: the node was connected to no coordinator.
// - The epoch of a coordinator that began the job (IsFounding). This epoch is
//   random and changes with each restart of the coordinator, so it must not be
//   compared with other epochs.
bool KnowsNothing(const Electorate& electorate) {
  return electorate.nodes == 0 &&
         (electorate.epoch == 0 || IsFounding(electorate.epoch));
}

// Adds the votes of the nodes to the constituency.
void CountVotes(const std::vector<const Report*>& voting, Constituency& one) {
  // Key: a rank that at least one node claims. Value: whether a node with this
  // rank remembers the world. Several nodes with one rank are one voter.
  std::map<int, bool> remembers;
  for (const Report* report : voting) {
    const int remembered =
        VotingRank(*report, one.world, one.members, one.incarnations);
    const bool has_forgotten = remembered < 0 && !report->place.has_value() &&
                               report->electorate.rank < 0 &&
                               report->spec.RestartedAgentsElect();
    const int rank =
        has_forgotten ? RankIn(one.members, report->node.node_id) : remembered;
    if (rank < 0 || rank >= one.nodes) continue;
    remembers[rank] = remembers[rank] || !has_forgotten;
  }
  for (const auto& [rank, does] : remembers) {
    ++(does ? one.voters : one.returned);
  }
}

// Whether the node may have learned of the world: it knows its rank there, or
// has begun a newer world since.
bool MayKnow(const Report& report, const WorldId& world) {
  const bool is_past_it =
      report.place.has_value() && world < IdOf(*report.place);
  return is_past_it || RankOf(report, world) >= 0;
}

}  // namespace

int RankOf(const Report& report, const WorldId& world) {
  const std::optional<Place>& place = report.place;
  if (place.has_value() && IdOf(*place) == world) return place->group_rank;
  return report.electorate.world == world ? report.electorate.rank : -1;
}

int ElectorRank(const Report& report, const WorldId& world) {
  const int rank = RankOf(report, world);
  if (rank >= 0 || report.previous_world != world) return rank;
  return report.previous_rank;
}

int ListedRank(const std::vector<std::string>& members,
               const std::vector<uint64_t>& incarnations,
               const NodeIdentity& agent) {
  const int rank = RankIn(members, agent.node_id);
  if (rank < 0 || rank >= std::ssize(incarnations)) return -1;
  return incarnations[rank] == agent.incarnation ? rank : -1;
}

int VotingRank(const Report& report, const WorldId& world,
               const std::vector<std::string>& members,
               const std::vector<uint64_t>& incarnations) {
  const int rank = ElectorRank(report, world);
  return rank >= 0 ? rank : ListedRank(members, incarnations, report.node);
}

WorldId IdOf(const Place& place) {
  return {.epoch = place.epoch, .round = place.round};
}

bool Constituency::has_majority() const {
  const bool is_most = 2 * (voters + returned) > nodes;
  return is_most && 2 * voters >= nodes;
}

Electorate NewestElectorate(const std::vector<const Report*>& reports) {
  Electorate newest;
  for (const Report* report : reports) {
    const Electorate& one = report->electorate;
    if (KnowsNothing(one)) continue;
    if (std::tie(newest.epoch, newest.world) < std::tie(one.epoch, one.world)) {
      newest = one;
    }
  }
  return newest;
}

bool IsVoid(const Place& place, const Electorate& newest) {
  const WorldId world = IdOf(place);
  if (world == newest.world) return false;
  return world < newest.world || place.epoch < newest.epoch;
}

const Place* WorldAfter(const Electorate& newest,
                        const std::vector<const Report*>& reports) {
  const Place* after = nullptr;
  for (const Report* report : reports) {
    if (!report->place.has_value()) continue;
    const Place& place = *report->place;
    if (IdOf(place) == newest.world || IsVoid(place, newest)) continue;
    if (after == nullptr || IdOf(*after) < IdOf(place)) after = &place;
  }
  return after;
}

int CandidatesOf(int nodes, const std::vector<std::string>& electorate,
                 const std::vector<std::string>& world) {
  const auto is_complete = [](const std::vector<std::string>& ids) {
    return !ids.empty() && std::ranges::find(ids, "") == ids.end();
  };
  if (!is_complete(electorate) || !is_complete(world)) return nodes;
  return static_cast<int>(std::ranges::count_if(
      electorate,
      [&](const std::string& id) { return RankIn(world, id) >= 0; }));
}

int UnawareRank(const Report& report, const Place& place,
                const WorldId& electorate) {
  const bool can_belong =
      place.members.empty() || RankIn(place.members, report.node.node_id) >= 0;
  if (!can_belong || MayKnow(report, IdOf(place))) return -1;
  return ElectorRank(report, electorate);
}

bool IsUnawareMember(const Report& report, const Place& place) {
  return ListedRank(place.members, place.incarnations, report.node) >= 0 &&
         !MayKnow(report, IdOf(place));
}

bool IsMemberUnaware(int unaware, int in_world, int candidates) {
  return unaware > 0 && unaware + in_world > candidates;
}

bool CannotBegin(const Place& place, const Electorate& newest,
                 const std::vector<const Report*>& voting) {
  std::set<int> unaware;
  for (const Report* report : voting) {
    if (IsUnawareMember(*report, place)) return true;
    const int rank = UnawareRank(*report, place, newest.world);
    if (rank >= 0) unaware.insert(rank);
  }
  return IsMemberUnaware(
      static_cast<int>(unaware.size()), place.electors,
      CandidatesOf(newest.nodes, newest.members, place.members));
}

std::vector<Constituency> ConstituenciesOf(
    const std::vector<const Report*>& known,
    const std::vector<const Report*>& voting) {
  std::vector<Constituency> constituencies;
  const Electorate newest = NewestElectorate(known);
  if (newest.nodes > 0) {
    constituencies.push_back({.world = newest.world,
                              .nodes = newest.nodes,
                              .members = newest.members,
                              .incarnations = newest.incarnations});
  }
  const Place* const after = WorldAfter(newest, known);
  if (after != nullptr && !CannotBegin(*after, newest, voting)) {
    constituencies.push_back({.world = IdOf(*after),
                              .nodes = after->group_world_size,
                              .members = after->members,
                              .incarnations = after->incarnations});
  }
  for (Constituency& one : constituencies) CountVotes(voting, one);
  return constituencies;
}

int MaxElsewhere(const JobSpec& spec) {
  const int bound =
      spec.RestartedAgentsElect() ? spec.max_nodes : spec.min_nodes;
  return (bound - 1) / 2;
}

bool OthersAreTooFew(const JobSpec& spec, int here,
                     const std::vector<Constituency>& constituencies) {
  if (spec.takeover != Takeover::kAuto) return false;
  const int elsewhere = std::max(0, spec.max_nodes - here);
  return elsewhere <= MaxElsewhere(spec) &&
         std::ranges::all_of(constituencies, [&](const Constituency& one) {
           return 2 * elsewhere < one.nodes || one.has_majority();
         });
}

bool IsSpare(const Report& report) {
  return report.electorate.is_spare && !report.place.has_value();
}

}  // namespace muster::rendezvous
