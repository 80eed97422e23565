#include "rendezvous/job/job_state.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "rendezvous/job/constituency.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::rendezvous {
namespace {

// A worker counts as silent together with the blamed worker if the times at
// which they fell silent differ little: by at most the duration of the blamed
// worker's silence, divided by this number.
constexpr int kTogetherDivisor = 10;

// Returns the earlier of two times; nullopt counts as never.
std::optional<Instant> Earlier(std::optional<Instant> a,
                               std::optional<Instant> b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() ? a : b;
  return std::min(*a, *b);
}

// Returns one number of each node: its node rank or its index, as `number`
// selects. Returns an empty list if any node lacks this number.
std::vector<int> NumbersOf(const Membership& nodes,
                           std::optional<int> NodeIdentity::*number) {
  std::vector<int> numbers;
  for (const auto& [id, node] : nodes.nodes()) {
    const std::optional<int>& own = node.identity.*number;
    if (!own.has_value()) return {};
    numbers.push_back(*own);
  }
  return numbers;
}

// Returns a warning clause if the blamed hang, `failure`, may be only a
// consequence of another worker's hang; "" if there is no doubt.
std::string DoubtAbout(const JobState& state, const Failure& failure) {
  if (failure.kind != FailureKind::kHung || IsStopped(failure)) return "";
  const Instant since = SilentSince(failure, state.now);
  const Duration window = (state.now - since) / kTogetherDivisor;
  int together = 0;
  for (const auto& [id, node] : state.nodes.nodes()) {
    if (id == failure.node_id || node.part == Part::kNone ||
        node.round != state.round) {
      continue;
    }
    for (const WorkerProgress& worker : node.progress) {
      // Skip a worker with deadline 0, which has ended or may be silent for
      // ever.
      if (worker.deadline == Duration::zero()) continue;
      const Instant silent = node.heard - worker.silent_for;
      if (silent >= since - window && silent <= since + window) ++together;
    }
  }
  if (together == 0) return "";
  return absl::StrCat("; ", together, together == 1 ? " rank" : " ranks",
                      " of other nodes fell silent together with it, and the "
                      "first need not be the cause: `launch inspect` shows who "
                      "waited for whom");
}

}  // namespace

Duration TimeToLearn(const JobSpec& spec) {
  // Within this time (three announcement intervals), every other coordinator
  // that runs the job has announced itself to this one. TimeToLearn returns at
  // least spec.order_life(), because nodes obey orders from before this
  // coordinator's restart for that long.
  constexpr Duration kToldWithin = std::chrono::seconds(3);
  return std::max<Duration>(kToldWithin, spec.order_life());
}

void JobState::Enter(JobPhase next) {
  phase = next;
  clock = PhaseClock{.since = now};
}

int ElectorsHere(const JobState& state, Among among) {
  return among == Among::kAll ? state.nodes.electors()
                              : state.nodes.ready_electors();
}

bool LacksElectors(const JobState& state, Among among) {
  if (state.electors.AreHalf(ElectorsHere(state, among), state.spec)) {
    return false;
  }
  const auto most = static_cast<int>(state.nodes.size());
  if (!OthersAreTooFew(state.spec, most, {})) return true;
  std::vector<const Node*> here;
  for (const auto& [id, node] : state.nodes.nodes()) {
    if (among == Among::kAll || node.ready()) here.push_back(&node);
  }
  return !OthersAreTooFew(state, here);
}

bool HasMajority(const JobState& state) {
  return state.electors.nodes > 0 && !state.electors.is_forming &&
         !LacksElectors(state, Among::kAll);
}

bool MayBeReplaced(const JobState& state) {
  return !state.own_endpoint.empty() && state.phase == JobPhase::kRunning &&
         state.electors.nodes > 0 &&
         !state.electors.AreHalf(state.nodes.connected_electors(), state.spec);
}

int RestartsUsed(const JobState& state, const Report& report) {
  return std::max(state.restarts_used,
                  std::min(report.restarts_used, state.spec.max_restarts));
}

bool MayListStandbys(const JobState& state) {
  // A coordinator that was not elected but continues a recorded job lists no
  // standby before its first round, because a standby does not know the record
  // of the job, for example the verdict.
  const bool continues_record =
      IsFounding(state.epoch) &&
      (state.recalled.has_value() || state.claimed_round > 0);
  return !state.own_endpoint.empty() && state.round == 0 && !continues_record;
}

std::set<std::string> LostNodes(const JobState& state) {
  std::set<std::string> ids = state.nodes.LostNodes();
  std::erase_if(ids, [&](const std::string& id) {
    return state.electors.known.contains(id) ||
           RankIn(state.electors.members, id) >= 0;
  });
  return ids;
}

bool JoinsAsSpare(const JobState& state, const Report& report) {
  const Electors& electors = state.electors;
  const std::string& id = report.node.node_id;
  const bool was_elector =
      electors.known.contains(id) || RankIn(electors.members, id) >= 0;
  if (was_elector || state.own_endpoint.empty()) return false;
  if (IsSpare(report)) return true;
  const World& world = state.world;
  const bool has_world =
      world.epoch == state.epoch ||
      (state.round > 0 &&
       electors.world == WorldId{.epoch = world.epoch, .round = state.round});
  if (!has_world) return false;
  // A spare that has a place replaces a node that may still run.
  const auto present =
      std::ranges::count_if(state.nodes.nodes(), [](const auto& one) {
        const Node& node = one.second;
        return !node.is_spare || node.part != Part::kNone || node.round > 0;
      });
  const int absent = electors.nodes - electors.gone - state.nodes.electors();
  std::set<std::string> lost = LostNodes(state);
  lost.erase(id);
  return present + absent + std::ssize(lost) >= state.spec.max_nodes;
}

bool OthersAreTooFew(const JobState& state,
                     const std::vector<const Node*>& here) {
  const Electors& electors = state.electors;
  std::vector<Constituency> constituencies;
  if (electors.nodes > 0) {
    constituencies.push_back(
        {.world = electors.world, .nodes = electors.nodes});
  }
  const auto known = std::ranges::count_if(
      here, [](const Node* node) { return !node->is_spare; });
  return OthersAreTooFew(state.spec, static_cast<int>(known), constituencies);
}

Witnesses WitnessesOf(const JobState& state) {
  const Electors& electors = state.electors;
  Witnesses witnesses{.left = electors.gone};
  for (const auto& [id, node] : state.nodes.nodes()) {
    const bool knows = node.told.kind == DirectiveKind::kStop &&
                       node.told.round == state.round &&
                       node.seen >= node.revision;
    if (!knows) continue;
    const auto elector = electors.known.find(id);
    // A node that leaves stays connected until the job has ended. This node has
    // seen the stop order that ends the job, so count the node as a connected
    // witness of the end, and not as an elector that has left.
    const bool leaves =
        elector != electors.known.end() && elector->second.is_gone &&
        elector->second.incarnation == node.identity.incarnation;
    if (leaves) --witnesses.left;
    if (leaves || electors.RankOf(node.identity, state.spec) >= 0) {
      ++witnesses.here;
    }
  }
  return witnesses;
}

std::optional<Instant> AwaitsWitnesses(const JobState& state) {
  const std::optional<Verdict>& verdict = state.stopping.consequence.verdict();
  const bool is_ending = verdict.has_value() || state.preemption.has_value();
  if (!is_ending || state.electors.nodes == 0) return std::nullopt;
  const Electors& electors = state.electors;
  const Witnesses found = WitnessesOf(state);
  if (electors.AreHalf(found.here, found.left, state.spec)) return std::nullopt;
  // Whether there would be enough witnesses (electors that have seen the stop
  // order with the job's exit code) if all electors that have not left saw this
  // order.
  const bool may_come =
      electors.AreHalf(electors.nodes - found.left, found.left, state.spec);
  // A cancelled or preempted job must end soon. It waits for lost nodes only
  // for the time of a lease, not for the rejoin time-out.
  const bool waits = may_come && verdict.has_value() &&
                     verdict->outcome != Outcome::kCancelled &&
                     !state.preemption.has_value();
  const Duration longest =
      waits ? state.spec.rejoin_timeout : state.spec.lease();
  return state.clock.Postponed(state.clock.since + longest);
}

std::optional<Instant> StartLimit(const JobState& state) {
  std::optional<Instant> limit;
  if (state.world.unstarted > 0) {
    limit = state.world.began + state.spec.join_timeout;
  }
  if (state.world.unknown > 0) {
    limit = Earlier(limit, state.world.unknown_until);
  }
  if (state.lost_host.has_value()) {
    limit = Earlier(limit, state.lost_host->due);
  }
  if (limit.has_value()) limit = state.clock.Postponed(*limit);
  return limit;
}

SlowRank Located(const JobState& state, SlowRank slow) {
  for (const World::Member& member : state.world.members) {
    const int local_rank = slow.rank - member.first_rank;
    if (local_rank < 0 || local_rank >= member.slots) continue;
    slow.node_id = member.node_id;
    slow.host = member.host;
    slow.local_rank = local_rank;
    const Node* const node = state.nodes.Find(member.node_id);
    if (node != nullptr && local_rank < std::ssize(node->identity.gpus)) {
      slow.gpu = node->identity.gpus[local_rank];
    }
    break;
  }
  return slow;
}

int UsableNodes(const JobState& state) {
  return std::max(GoodSpares(state),
                  std::min(state.nodes.ready(), state.spec.min_nodes));
}

int GoodSpares(const JobState& state) {
  return state.nodes.ready() -
         static_cast<int>(state.nodes.quarantined().size());
}

bool IsSuspicious(const JobState& state) {
  const std::optional<Failure>& cause = state.blame.failures().cause();
  return state.stopping.cause == StopCause::kBroken &&
         (cause.has_value() ? cause->kind == FailureKind::kNodeLost ||
                                  IsCommunicationError(cause->message)
                            : state.blame.is_told());
}

int MissingNodes(const JobState& state) {
  const Membership& nodes = state.nodes;
  const int soon = nodes.ready() + nodes.being_checked() + nodes.broken() +
                   nodes.unanswered();
  const bool lacks_majority =
      LacksElectors(state, Among::kReady) && !LacksElectors(state, Among::kAll);
  const int missing = state.spec.min_nodes - soon;
  return lacks_majority ? std::max(missing, 1) : missing;
}

Instant WaiverTime(const JobState& state) {
  return state.gathering.first()
             ? state.clock.since
             : state.clock.since + state.spec.wait_for_replacement;
}

bool SpareWaits(const JobState& state) {
  return state.spec.scale_up == ScaleUp::kRestart && GoodSpares(state) > 0 &&
         state.world.size() < state.spec.max_nodes &&
         state.world.succeeded == 0 && !state.preemption.has_value();
}

std::optional<Instant> LimitOfToldCancel(const JobState& state) {
  if (!state.earlier.verdict.has_value() ||
      state.earlier.verdict->outcome != Outcome::kCancelled) {
    return std::nullopt;
  }
  return state.clock.Postponed(state.clock.since + state.spec.lease());
}

std::optional<Instant> PhaseLimit(const JobState& state) {
  switch (state.phase) {
    case JobPhase::kGathering:
      if (state.adoption.pending()) return state.adoption.deadline();
      if (state.recalled.has_value()) {
        return state.clock.Postponed(state.clock.since +
                                     TimeToLearn(state.spec));
      }
      if (const auto limit = LimitOfToldCancel(state)) return limit;
      return state.gathering.Limit(state.spec, state.clock);
    case JobPhase::kRunning:
      return StartLimit(state);
    case JobPhase::kStopping:
      if (state.world.unstopped == 0) return AwaitsWitnesses(state);
      return state.clock.Postponed(state.stopping.deadline);
    case JobPhase::kFinished:
      break;
  }
  return std::nullopt;
}

std::optional<Instant> PhaseDeadline(const JobState& state) {
  std::optional<Instant> deadline = PhaseLimit(state);
  switch (state.phase) {
    case JobPhase::kGathering:
      if (state.awaits_judgement) return state.now;
      if (state.adoption.pending()) return state.adoption.NextDeadline();
      if (state.recalled.has_value()) return deadline;
      deadline =
          state.gathering.NextDeadline(state.now, state.spec, state.clock);
      if (state.checks.current() != nullptr) {
        deadline = Earlier(deadline, state.checks.current()->Deadline());
      }
      if (const auto limit = LimitOfToldCancel(state); limit > state.now) {
        deadline = Earlier(deadline, limit);
      }
      if (WaiverTime(state) > state.now && MissingNodes(state) > 0 &&
          !state.nodes.kept_out().empty()) {
        deadline = Earlier(deadline, WaiverTime(state));
      }
      return deadline;
    case JobPhase::kRunning:
      if (state.preemption.has_value()) {
        deadline = Earlier(deadline, state.preemption->deadline);
      }
      if (SpareWaits(state)) {
        deadline = Earlier(deadline,
                           state.world.began + state.spec.scale_up_cool_down);
      }
      return deadline;
    case JobPhase::kStopping:
      return Earlier(deadline, state.blame.NextDeadline(state.now));
    case JobPhase::kFinished:
      break;
  }
  return std::nullopt;
}

std::string ChooseSpeaker(const JobState& state) {
  for (const World::Member& member : state.world.members) {
    const Node* const node = state.nodes.Find(member.node_id);
    if (node != nullptr && node->stream != 0) return member.node_id;
  }
  for (const auto& [id, node] : state.nodes.nodes()) {
    if (node.stream != 0) return id;
  }
  return "";
}

std::string ReasonOfBreak(const JobState& state, const Failure& failure) {
  const std::string& lost = state.world.nccl_root_lost;
  return absl::StrCat(Describe(failure), lost.empty() ? "" : "; before that, ",
                      lost, DoubtAbout(state, failure));
}

std::string BackoffText(const JobState& state, Instant now) {
  const Duration left = state.gathering.not_before() - now;
  if (left <= Duration::zero()) return "";
  const double tenths = std::ceil(10 * ToSeconds(left));
  return absl::StrCat(
      "the next round begins in ", tenths / 10, " s, because ",
      state.backoff.failures(), " rounds in a row failed within ",
      ToSeconds(RestartBackoff::kHealthyRound), " s of their start");
}

std::string MayRunText(const JobState& state) {
  const LaterWorld& later = state.later;
  return absl::StrCat("round ", later.world.round,
                      " may run elsewhere: ", later.stopped.size(),
                      " of its nodes came and stopped their workers, and ",
                      later.needed, " must before another round begins");
}

std::string PreemptionReason(const JobState& state) {
  const PreemptionNotice& notice = state.preemption->notice;
  return absl::StrCat("preempted: ", SignalName(notice.signal), " at ",
                      notice.host);
}

Verdict PreemptionVerdict(const JobState& state) {
  std::string reason = PreemptionReason(state);
  if (const auto& cause = state.blame.failures().cause(); cause.has_value()) {
    absl::StrAppend(
        &reason, "; besides, ",
        cause->rank < 0
            ? absl::StrCat(cause->host, " was lost: ", cause->message)
            : ReasonOfBreak(state, *cause));
  }
  return NewVerdict(Outcome::kPreempted, kPreemptedExitCode, std::move(reason));
}

Verdict NewVerdict(Outcome outcome, int exit_code, std::string reason) {
  Verdict verdict;
  verdict.outcome = outcome;
  verdict.exit_code = exit_code;
  verdict.reason = std::move(reason);
  return verdict;
}

void Stamp(const JobState& state, Verdict& verdict) {
  verdict.time = state.ledger.Read(state.round);
  verdict.restarts_used = state.restarts_used;
  verdict.max_restarts = state.spec.max_restarts;
  // A restarted coordinator may not have formed a round itself. The highest
  // round that a node has reported then counts.
  verdict.rounds = state.round > 0 ? state.round : state.claimed_round;
  verdict.lasted = state.now - state.born;
}

std::string Absent(const JobState& state) {
  std::vector<std::string> absent;
  for (int rank = 0; rank < state.world.size(); ++rank) {
    const World::Member& member = state.world.members[rank];
    // For a member that has never reported to this coordinator, the field
    // `host` contains its node id (WorldOf).
    const std::string& id =
        member.node_id.empty() ? member.host : member.node_id;
    if (state.nodes.nodes().contains(id)) continue;
    const std::string name = member.host.empty()
                                 ? absl::StrCat("the node of group rank ", rank)
                                 : member.host;
    const std::string how = member.node_id.empty() && member.departure.empty()
                                ? "it has not come to this coordinator"
                                : member.departure;
    const bool is_named_otherwise = !member.host.empty() && id != member.host;
    const std::string node =
        is_named_otherwise ? absl::StrCat("node ", id) : "";
    absent.push_back(node.empty() && how.empty()
                         ? name
                         : absl::StrCat(name, " (", node,
                                        node.empty() || how.empty() ? "" : ", ",
                                        how, ")"));
  }
  if (state.world.size() == 0) {
    std::vector<int> claimed = NumbersOf(state.nodes, &NodeIdentity::node_rank);
    const char* what = "node rank ";
    if (claimed.empty() && state.spec.min_nodes == state.spec.max_nodes) {
      claimed = NumbersOf(state.nodes, &NodeIdentity::index);
      what = "index ";
    }
    if (claimed.empty()) return "";
    for (int number = 0; number < state.spec.min_nodes; ++number) {
      if (std::find(claimed.begin(), claimed.end(), number) == claimed.end()) {
        absent.push_back(absl::StrCat(what, number));
      }
      if (absent.size() > kMaxNamedNodes) break;
    }
  }
  if (absent.empty()) return "";
  const bool more = absent.size() > kMaxNamedNodes;
  if (more) absent.resize(kMaxNamedNodes);
  return absl::StrCat("; absent: ", absl::StrJoin(absent, ", "),
                      more ? ", …" : "");
}

namespace {

// Returns a list of the nodes `ids` without `except`, each with its reason.
// Cuts the list after kMaxNamedNodes nodes. `lead`: the text before the first
// node.
template <typename Reason>
std::string NamedNodes(const JobState& state, const std::set<std::string>& ids,
                       const Node* except, const char* lead,
                       const Reason& reason) {
  std::string text;
  size_t named = 0;
  for (const std::string& id : ids) {
    const Node& node = state.nodes.nodes().at(id);
    if (&node == except) continue;
    if (named == kMaxNamedNodes) return absl::StrCat(text, ", …");
    absl::StrAppend(&text, named++ == 0 ? lead : ", ", node.identity.host, " (",
                    reason(node), ")");
  }
  return text;
}

}  // namespace

std::string KeptOut(const JobState& state, const Node* except) {
  return NamedNodes(state, state.nodes.kept_out(), except,
                    "; unhealthy: ", [](const Node& node) {
                      return node.judgement.state == HostState::kBanned
                                 ? absl::StrCat("banned: ",
                                                node.judgement.reason)
                                 : node.complaint();
                    });
}

std::string QuarantinedText(const JobState& state, const Node* except) {
  return NamedNodes(state, state.nodes.quarantined(), except,
                    "; quarantined: ", [](const Node& node) {
                      return JudgementText(node.judgement);
                    });
}

std::string JudgementText(const HostJudgement& judgement) {
  if (judgement.state == HostState::kBanned) return judgement.reason;
  return absl::StrFormat("%s; score %.1f", judgement.reason, judgement.score);
}

HostJudgement JudgementFor(const JobState& state, const HostKey& machine) {
  if (state.hosts == nullptr) return {};
  const auto at_any_address = state.hosts->find({machine.host, ""});
  if (at_any_address != state.hosts->end() &&
      at_any_address->second.state == HostState::kBanned) {
    return at_any_address->second;
  }
  const auto found = state.hosts->find(machine);
  return found == state.hosts->end() ? HostJudgement() : found->second;
}

}  // namespace muster::rendezvous
