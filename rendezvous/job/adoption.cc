#include "rendezvous/job/adoption.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "rendezvous/job/constituency.h"

namespace muster::rendezvous {
namespace {

using Reports = std::map<std::string, Report>;
using WorldKey = std::tuple<uint64_t, int, int, int, int, std::string, int>;

// Returns the fields of a place that are equal on all nodes of one world, and
// so identify the world.
WorldKey KeyOf(const Place& place) {
  return {place.epoch,      place.round,         place.group_world_size,
          place.world_size, place.restart_count, place.master_address,
          place.master_port};
}

// Returns the reports of the nodes in the newest world, by group rank. The
// newest world has the highest epoch and, within it, the highest round. Ignores
// worlds that can no longer begin (IsVoid). `electorate`: the newest electorate
// that any node knows.
//
// If epochs are unknown (Place::epoch is 0), several worlds may have this epoch
// and round, because a coordinator without a record of the job may use a round
// number again. Then returns the reports of the world that most nodes report.
std::map<int, const Report*> NewestWorld(const Reports& reports,
                                         const Electorate& electorate) {
  std::map<WorldKey, std::map<int, const Report*>> worlds;
  WorldId newest;
  for (const auto& [id, report] : reports) {
    if (!report.place.has_value() || IsVoid(*report.place, electorate)) {
      continue;
    }
    newest = std::max(newest, IdOf(*report.place));
    worlds[KeyOf(*report.place)].emplace(report.place->group_rank, &report);
  }
  std::map<int, const Report*> found;
  for (auto& [key, members] : worlds) {
    const WorldId id = IdOf(*members.begin()->second->place);
    if (id != newest || members.size() <= found.size()) continue;
    found = std::move(members);
  }
  return found;
}

bool IsNewer(const RoundEnd& a, const RoundEnd& b) {
  return std::tie(a.epoch, a.revision) > std::tie(b.epoch, b.revision);
}

}  // namespace

bool IsSameWorld(const Place& a, const Place& b) {
  return KeyOf(a) == KeyOf(b);
}

void Adoption::Begin(Instant deadline) {
  if (stage_ != Stage::kNotBegun) return;
  stage_ = Stage::kPending;
  deadline_ = deadline;
}

void Adoption::ForgiveStandstill(Instant now, Duration lease) {
  if (!pending() || forgiven_) return;
  forgiven_ = true;
  deadline_ = now + lease;
}

void Adoption::Hear(const Report& report) {
  recount_.Heard();
  collected_.come[report.node.node_id] = report;
}

void Adoption::Forget(const std::string& node_id) {
  const auto found = collected_.come.find(node_id);
  if (found == collected_.come.end()) return;
  recount_.Demand();
  collected_.gone[node_id] = std::move(found->second);
  collected_.come.erase(found);
}

bool Adoption::Holds(const std::string& node_id) const {
  if (!pending()) return false;
  const auto found = collected_.come.find(node_id);
  return found != collected_.come.end() && found->second.place.has_value() &&
         found->second.phase != NodePhase::kIdle;
}

Adoption::Decision Adoption::Decide(Instant now) {
  const Electorate electorate = NewestElectorate(collected_.All());
  const auto members = NewestWorld(collected_.come, electorate);
  progress_ = {.members = electorate.members};
  bool has_begun = false;
  if (!members.empty()) {
    const Place& place = *members.begin()->second->place;
    progress_ = {.round = place.round,
                 .world = place.group_world_size,
                 .come = static_cast<int>(members.size()),
                 .members = place.members};
    has_begun = electorate.nodes == 0 || electorate.world == IdOf(place) ||
                progress_.come == progress_.world;
  }
  recount_.Counted(now, progress_.world / 2 + 1 - progress_.come);
  if (2 * progress_.come > progress_.world) {
    return has_begun ? Decision::kAdopt : Decision::kStop;
  }
  return now >= deadline_ ? Decision::kGiveUp : Decision::kWait;
}

Adoption::Collected Adoption::End() {
  stage_ = Stage::kOver;
  return std::exchange(collected_, {});
}

std::vector<const Report*> Adoption::Collected::All() const {
  std::vector<const Report*> all;
  all.reserve(come.size() + gone.size());
  for (const auto& [id, report] : come) all.push_back(&report);
  for (const auto& [id, report] : gone) all.push_back(&report);
  return all;
}

bool Replaces(const RoundEnd& a, const RoundEnd& b) {
  return IsNewer(a, b) || (a.cancelled && !b.exit_code.has_value());
}

bool TellsEndOf(const WorldId& world, const Report& report) {
  if (!report.round_end.has_value()) return false;
  const RoundEnd& end = *report.round_end;
  const WorldId place =
      report.place.has_value() ? IdOf(*report.place) : WorldId();
  return place == world || (place < world && end.round >= world.round &&
                            end.epoch >= world.epoch);
}

const Report* EndThatCounts(const WorldId& world,
                            const std::vector<const Report*>& reports) {
  const Report* newest = nullptr;
  const Report* cancel = nullptr;
  const auto keep_newer = [](const Report*& kept, const Report* report) {
    if (kept == nullptr || IsNewer(*report->round_end, *kept->round_end)) {
      kept = report;
    }
  };
  for (const Report* const report : reports) {
    if (!TellsEndOf(world, *report)) continue;
    keep_newer(newest, report);
    if (report->round_end->cancelled) keep_newer(cancel, report);
  }
  const bool goes_on =
      newest != nullptr && !newest->round_end->exit_code.has_value();
  return goes_on && cancel != nullptr ? cancel : newest;
}

World WorldOf(const Reports& reports, const Electorate& newest) {
  World world;
  std::vector<std::string> ids;
  std::vector<uint64_t> incarnations;
  for (const auto& [rank, report] : NewestWorld(reports, newest)) {
    const Place& place = *report->place;
    world.members.resize(place.group_world_size);
    world.epoch = place.epoch;
    world.world_size = place.world_size;
    world.master_address = place.master_address;
    world.master_port = place.master_port;
    world.restart_count = place.restart_count;
    world.reached_step = place.reached_step;
    world.SetMember(place, report->node);
    ids = place.members;
    incarnations = place.incarnations;
  }
  world.unknown = 0;
  for (size_t rank = 0; rank < world.members.size(); ++rank) {
    World::Member& member = world.members[rank];
    if (!member.node_id.empty()) continue;
    ++world.unknown;
    if (rank < ids.size()) member.host = ids[rank];
    if (rank < incarnations.size()) member.incarnation = incarnations[rank];
  }
  return world;
}

}  // namespace muster::rendezvous
