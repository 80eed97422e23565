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

}  // namespace

int RankOf(const Report& report, const WorldId& world) {
  if (report.electorate.world == world) return report.electorate.rank;
  const std::optional<Place>& place = report.place;
  return place.has_value() && IdOf(*place) == world ? place->group_rank : -1;
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

int UnawareMembers(int present, int in_world, int candidates) {
  return std::clamp(present + in_world - candidates, 0, present);
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

int RankAsListed(const Report& report, const WorldId& world,
                 const std::vector<std::string>& members) {
  const bool was_there =
      report.spec.RestartedAgentsElect() && report.place.has_value() &&
      report.place->epoch == world.epoch && report.place->round < world.round;
  return was_there ? RankIn(members, report.node.node_id) : -1;
}

std::vector<Constituency> ConstituenciesOf(
    const std::vector<const Report*>& known,
    const std::vector<const Report*>& voting) {
  const Electorate newest = NewestElectorate(known);
  std::map<WorldId, Constituency> found;
  // the node ids of the worlds in `found`, by group rank; empty: not listed
  std::map<WorldId, std::vector<std::string>> ids;
  std::map<WorldId, int> in_world;  // Place::electors of the newer worlds
  if (newest.nodes > 0) {
    found[newest.world] = {.world = newest.world, .nodes = newest.nodes};
    ids[newest.world] = newest.members;
  }
  for (const Report* report : known) {
    if (!report->place.has_value() || IsVoid(*report->place, newest)) continue;
    const WorldId world = IdOf(*report->place);
    found.try_emplace(
        world,
        Constituency{.world = world, .nodes = report->place->group_world_size});
    ids.try_emplace(world, report->place->members);
    if (newest.nodes > 0 && world != newest.world) {
      in_world[world] = report->place->electors;
    }
  }
  // A vote in the election of a coordinator: that of a node that holds this
  // rank of this world. Sorted by world and rank. If several nodes claim one
  // rank, the vote of a node that remembers its place comes first.
  struct Vote {
    WorldId world;
    int rank = 0;
    bool has_forgotten = false;
    auto operator<=>(const Vote&) const = default;
  };
  std::vector<Vote> votes;
  // By newer world: the ranks in the electorate of the voters that do not know
  // that world, but may be its members.
  std::map<WorldId, std::set<int>> unaware;
  for (const Report* report : voting) {
    std::optional<WorldId> place;
    if (report->place.has_value()) {
      place = IdOf(*report->place);
      votes.push_back({.world = *place, .rank = report->place->group_rank});
    }
    const Electorate& electorate = report->electorate;
    const bool has_forgotten = !place.has_value() && electorate.rank < 0 &&
                               report->spec.RestartedAgentsElect();
    for (const auto& [world, members] : ids) {
      const int listed = RankIn(members, report->node.node_id);
      const int rank =
          has_forgotten ? listed : RankAsListed(*report, world, members);
      const int in_electorate = RankOf(*report, newest.world);
      if (rank < 0 && place != world && in_world.contains(world) &&
          in_electorate >= 0 && (listed >= 0 || members.empty())) {
        unaware[world].insert(in_electorate);
      }
      if (rank < 0) continue;
      votes.push_back({.world = world, .rank = rank, .has_forgotten = true});
    }
    if (electorate.world == place) continue;
    votes.push_back({.world = electorate.world, .rank = electorate.rank});
  }
  std::ranges::sort(votes);
  const Vote* last = nullptr;
  for (const Vote& vote : votes) {
    const bool is_counted =
        last != nullptr && last->world == vote.world && last->rank == vote.rank;
    last = &vote;
    const auto world = found.find(vote.world);
    if (is_counted || world == found.end()) continue;
    Constituency& one = world->second;
    if (vote.rank < 0 || vote.rank >= one.nodes) continue;
    ++(vote.has_forgotten ? one.returned : one.voters);
  }
  for (const auto& [world, ranks] : unaware) {
    found.at(world).voters += UnawareMembers(
        static_cast<int>(ranks.size()), in_world.at(world),
        CandidatesOf(newest.nodes, newest.members, ids.at(world)));
  }
  std::vector<Constituency> constituencies;
  constituencies.reserve(found.size());
  for (auto& [world, one] : found) {
    one.members = std::move(ids.at(world));
    constituencies.push_back(std::move(one));
  }
  return constituencies;
}

int MostElsewhere(const JobSpec& spec) {
  const int bound =
      spec.RestartedAgentsElect() ? spec.max_nodes : spec.min_nodes;
  return (bound - 1) / 2;
}

bool OthersAreTooFew(const JobSpec& spec, int here,
                     const std::vector<Constituency>& constituencies) {
  if (spec.takeover != Takeover::kAuto) return false;
  const int elsewhere = std::max(0, spec.max_nodes - here);
  return elsewhere <= MostElsewhere(spec) &&
         std::ranges::all_of(constituencies, [&](const Constituency& one) {
           return 2 * elsewhere < one.nodes || one.has_majority();
         });
}

bool IsKnownSpare(const Report& report,
                  const std::vector<std::string>& members) {
  const Electorate& electorate = report.electorate;
  return electorate.nodes > 0 && electorate.rank < 0 &&
         !report.place.has_value() && RankIn(members, report.node.node_id) < 0;
}

}  // namespace muster::rendezvous
