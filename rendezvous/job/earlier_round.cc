#include "rendezvous/job/earlier_round.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rendezvous/job/adoption.h"
#include "rendezvous/job/constituency.h"

namespace muster::rendezvous {
namespace {

// How long a new coordinator waits for the node whose process was the previous
// coordinator. That process has most likely ended, and its workers with it.
constexpr Duration kHostGrace = std::chrono::seconds(2);

}  // namespace

std::optional<Verdict> VerdictOf(const RoundEnd& end,
                                 const std::vector<const Report*>& reports) {
  if (!end.exit_code.has_value()) return std::nullopt;
  const bool preempted =
      std::ranges::any_of(reports, [](const Report* const report) {
        return report->preemption.has_value();
      });
  if (end.exit_code == kPreemptedExitCode && preempted) return std::nullopt;
  const Outcome outcome = end.exit_code == 0 ? Outcome::kSucceeded
                          : end.cancelled    ? Outcome::kCancelled
                                             : Outcome::kFailed;
  return Verdict{
      .outcome = outcome, .exit_code = *end.exit_code, .reason = end.reason};
}

EarlierRound EarlierRound::GivenUp(const std::vector<const Report*>& all) {
  EarlierRound round;
  const Electorate electorate = NewestElectorate(all);
  if (electorate.nodes == 0) return round;
  const Place* const after = WorldAfter(electorate, all);
  const WorldId& world = round.world =
      after != nullptr ? IdOf(*after) : electorate.world;
  // If no node that obeys the newest coordinator reports how the round ended,
  // that coordinator may have ended the round in another way. Then no order of
  // an older coordinator counts, except a cancel.
  round.end = {.epoch = electorate.epoch};
  const Report* const ended = EndThatCounts(world, all);
  const bool is_known = std::ranges::any_of(all, [&](const Report* report) {
    return report->electorate.epoch >= electorate.epoch &&
           TellsEndOf(world, *report);
  });
  if (ended != nullptr && (is_known || ended->round_end->cancelled)) {
    round.end = *ended->round_end;
    round.verdict = VerdictOf(round.end, all);
  }
  return round;
}

void EarlierRound::TakeVoidCancel(const Report& report, const WorldId& newest) {
  const bool is_cancelled =
      report.round_end.has_value() && report.round_end->cancelled &&
      report.place.has_value() && IdOf(*report.place) >= newest;
  if (!exists() && is_cancelled) world = IdOf(*report.place);
}

bool EarlierRound::IsSuperseded(const Report& report) const {
  return report.electorate.world > world ||
         (report.place.has_value() && IdOf(*report.place) > world);
}

bool EarlierRound::Accepts(const Report& report, uint64_t epoch,
                           Fate fate) const {
  if (!TellsEndOf(world, report)) return false;
  const RoundEnd& order = *report.round_end;
  const std::optional<Verdict> told = VerdictOf(order, {&report});
  const bool is_cancel =
      told.has_value() && told->outcome == Outcome::kCancelled;
  const bool is_decided = fate == Fate::kAdopted || verdict.has_value();
  return order.epoch < epoch && Replaces(order, end) &&
         (is_cancel || !is_decided);
}

std::optional<LostHost> LostHost::Of(
    const World& world, int round, const std::map<std::string, Report>& reports,
    Instant now, Duration lease) {
  const WorldId adopted{.epoch = world.epoch, .round = round};
  uint64_t epoch = 0;
  int host = -1;
  for (const auto& [id, report] : reports) {
    const bool is_member =
        report.place.has_value() && IdOf(*report.place) == adopted;
    if (!is_member || report.electorate.epoch <= epoch) continue;
    epoch = report.electorate.epoch;
    host = report.host_rank;
  }
  if (host < 0 || host >= world.size() ||
      !world.members[host].node_id.empty()) {
    return std::nullopt;
  }
  return LostHost{.rank = host,
                  .name = world.members[host].host,
                  .due = now + std::min(kHostGrace, lease)};
}

Failure LostHost::AsFailure() const {
  Failure failure;
  failure.kind = FailureKind::kNodeLost;
  failure.group_rank = rank;
  failure.node_id = name;
  failure.message = "its process coordinated the job, and is gone";
  return failure;
}

std::string LostHost::Text() const {
  return absl::StrCat("the node of group rank ", rank,
                      name.empty() ? "" : absl::StrCat(" (", name, ")"),
                      " is lost, which coordinated the job until then");
}

}  // namespace muster::rendezvous
