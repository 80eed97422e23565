// The phases of a job: when each phase ends, and which phase follows. See the
// table in job.h.

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/message_text.h"
#include "rendezvous/job/constituency.h"
#include "rendezvous/job/incident.h"
#include "rendezvous/job/job.h"
#include "rendezvous/job/job_check.h"
#include "rendezvous/job/rank_assignment.h"

namespace muster::rendezvous {
namespace {

constexpr char kSuccess[] = "every worker succeeded";

// The reason with which a new coordinator stops a round that an earlier
// coordinator began (Adoption::Decision::kStop).
constexpr char kUnknown[] =
    "the earlier coordinator was lost before it knew that the round had begun "
    "on all nodes";

// Returns the reason of a time-out verdict for this case: enough nodes for a
// round were ready within `timeout`, but another round may still run without
// this coordinator. Either fewer than half of the electors were among the ready
// nodes, or too few nodes of the world that formed after the electors' world
// (JobState::later) have stopped.
std::string NoMajority(const JobState& state, Duration timeout) {
  if (!LacksElectors(state, Among::kReady)) {
    return absl::StrCat(MayRunText(state), "; no more did within ",
                        ToSeconds(timeout), " s", Absent(state));
  }
  const Electors& electors = state.electors;
  return absl::StrCat("only ", ElectorsHere(state, Among::kReady), " of the ",
                      Counted(electors.nodes, "node"), " of round ",
                      electors.world.round, " came within ", ToSeconds(timeout),
                      " s, and no round begins without half of them, because "
                      "it may have gone on elsewhere",
                      Absent(state));
}

// Whether the job can end with the verdict of an earlier coordinator
// (EarlierRound::verdict): no workers are left, and enough electors are ready
// for a new round. A cancelled job waits for electors only until
// LimitOfToldCancel. O(n).
bool EndsAsTold(const JobState& state) {
  if (!state.earlier.verdict.has_value() ||
      std::ranges::any_of(state.nodes.nodes(), [](const auto& one) {
        return HasProcesses(one.second.phase);
      })) {
    return false;
  }
  const std::optional<Instant> limit = LimitOfToldCancel(state);
  return !LacksElectors(state, Among::kReady) ||
         (limit.has_value() && state.now >= *limit);
}

// Returns the verdict of a job that an earlier coordinator ended
// (EarlierRound::verdict) if the conditions of EndsAsTold are not met: the wait
// for them, `timeout`, is over. If the earlier verdict is a failure and too few
// electors are ready (LacksElectors), the job may have gone on under another
// coordinator, so the verdict is a time-out.
Verdict VerdictAsTold(const JobState& state, Duration timeout) {
  const Verdict& told = *state.earlier.verdict;
  if (told.outcome != Outcome::kFailed ||
      !LacksElectors(state, Among::kReady)) {
    return told;
  }
  return NewVerdict(
      Outcome::kTimedOut, told.exit_code,
      absl::StrCat(told.reason, "; ", NoMajority(state, timeout)));
}

// Returns the reason of a time-out verdict. It applies if less than half of the
// electors learned of the end of the job by `limit` (AwaitsWitnesses).
std::string TooFewWitnesses(const JobState& state, Instant limit) {
  return absl::StrCat("only ", WitnessesOf(state).here, " of the ",
                      Counted(state.electors.nodes, "node"), " of round ",
                      state.electors.world.round, " learned of this within ",
                      ToSeconds(limit - state.clock.since),
                      " s, so the others may go on", Absent(state));
}

// Returns a quarantined member of the running round that should give its place
// to a ready node (--evict-stragglers); null: none. Always null if takeovers
// are possible, because then half of the electors must keep their places. O(n).
const Node* MemberToReplace(const JobState& state) {
  if (!state.spec.evict_stragglers || !state.own_endpoint.empty() ||
      state.hosts == nullptr || GoodSpares(state) == 0 ||
      state.world.unstarted > 0 || state.world.succeeded > 0 ||
      state.preemption.has_value() ||
      state.now < state.world.began + state.spec.scale_up_cool_down) {
    return nullptr;
  }
  for (const auto& [id, node] : state.nodes.nodes()) {
    if (node.part != Part::kNone && !node.going &&
        node.judgement.state == HostState::kQuarantined) {
      return &node;
    }
  }
  return nullptr;
}

// Whether all nodes that can report a place in the earlier coordinator's round
// have reported. The decision whether to adopt that round then needs no further
// wait. O(n).
bool AllAreHere(const JobState& state) {
  const int most = state.spec.max_nodes;
  if (!state.own_endpoint.empty()) {
    // With Takeover::kAuto at most max_nodes nodes run besides the spares. So
    // once that many have reported, no other can.
    if (state.spec.takeover == Takeover::kAuto &&
        state.nodes.regular() >= most) {
      return true;
    }
    // No further wait is needed either once all members of the earlier
    // coordinator's round have joined this coordinator. If a member has joined
    // without reporting a place in that round, its agent was started again, and
    // will not report such a place later.
    const std::vector<std::string>& members = state.adoption.progress().members;
    return !members.empty() &&
           std::ranges::all_of(members, [&state](const std::string& id) {
             return state.nodes.Find(id) != nullptr;
           });
  }
  // Without takeovers, the earlier coordinator was an earlier run of this
  // coordinator. An agent in the coordinator's process was often restarted
  // together with the coordinator, and then has no place to report. So count
  // the nodes with a reported place, and also the nodes whose agent has just
  // been started (is_fresh). A spare that reconnects is counted as neither.
  const auto fresh = std::ranges::count_if(
      state.nodes.nodes(), [](const auto& one) { return one.second.is_fresh; });
  return fresh + state.adoption.progress().come >= most;
}

}  // namespace

void Job::ConsiderAdoption() {
  if (!state_.adoption.IsDue(state_.now)) return;
  const Adoption::Decision decision = state_.adoption.Decide(state_.now);
  const bool all_are_here = AllAreHere(state_);
  const bool is_hosted = !state_.own_endpoint.empty();
  if (decision == Adoption::Decision::kWait && !all_are_here) return;
  const Adoption::Progress progress = state_.adoption.progress();
  const Adoption::Collected collected = state_.adoption.End();
  const std::map<std::string, Report>& reports = collected.come;
  const std::vector<const Report*> all = collected.All();
  ++state_.changes;
  outbox_.Reword();
  const std::string come = progress.world == 0
                               ? "none of its nodes"
                               : absl::StrCat(progress.come, " of its ",
                                              Counted(progress.world, "node"));
  if (decision == Adoption::Decision::kAdopt) {
    outbox_.Note("adopt", "",
                 absl::StrCat("round ", progress.round, " goes on: ", come,
                              " have come to this coordinator",
                              state_.released_before.has_value()
                                  ? ""
                                  : ", which has no record of the job: earlier "
                                    "drains are not known"));
    AdoptRound(decision, reports, all);
  } else if (decision == Adoption::Decision::kStop) {
    outbox_.Note(
        "adopt", "",
        absl::StrCat("round ", progress.round, " is stopped: ", come,
                     " have come to this coordinator, but ", kUnknown));
    AdoptRound(decision, reports, all);
  } else {
    if (is_hosted) {
      state_.electors = Electors::Of(NewestElectorate(all));
      state_.earlier = EarlierRound::GivenUp(all);
      if (state_.earlier.verdict.has_value()) {
        state_.blame.Tell(state_.earlier.verdict->reason);
      }
    }
    // Skip the last call (the wait for more nodes): either all nodes of the
    // round are here, or the missing ones had the time of a lease to come.
    if (progress.world > 0) state_.gathering.SkipLastCall();
    outbox_.Note(
        "adopt", "",
        absl::StrCat(
            progress.world == 0 ? "an earlier round"
                                : absl::StrCat("round ", progress.round),
            " is given up: ", progress.come == 0 ? "" : "only ", come,
            all_are_here
                ? absl::StrCat(" are among the ", state_.nodes.size(),
                               " nodes here")
                : absl::StrCat(" came to this coordinator within the lease "
                               "of ",
                               ToSeconds(state_.spec.lease()), " s"),
            state_.earlier.verdict.has_value() ? "; the job had ended with it"
                                               : ""));
  }
  if (is_hosted && !state_.spec.RestartedAgentsElect()) {
    state_.later = LaterWorld::After(state_.electors.world, all);
  }
  for (const auto& [id, report] : reports) {
    Node* const node = state_.nodes.Find(id);
    if (node == nullptr || finished()) continue;
    JoinElectors(*node, report);
    Apply(*node, report);
  }
  // Stop the round here only if it still runs: if a node has reported a
  // failure, this has broken the round already.
  if (decision == Adoption::Decision::kStop &&
      state_.phase == JobPhase::kRunning) {
    if (state_.lost_host.has_value()) {
      LoseHost();
    } else {
      BreakRound(kUnknown, {.cause = StopCause::kBroken});
    }
  }
  for (auto& [id, node] : state_.nodes.nodes()) outbox_.Tell(node);
}

void Job::AdoptRound(Adoption::Decision decision,
                     const std::map<std::string, Report>& reports,
                     const std::vector<const Report*>& all) {
  state_.world = WorldOf(reports, NewestElectorate(all));
  state_.checks.SkipFirst();
  state_.world.began = state_.now;
  state_.world.unknown_until = std::max(state_.now, state_.adoption.deadline());
  state_.gathering.End();
  state_.blame.Clear();
  state_.signals.clear();
  state_.restarts_used = state_.world.restart_count;
  bool is_alive = false;
  for (const World::Member& member : state_.world.members) {
    if (member.node_id.empty()) continue;
    const Report& report = reports.at(member.node_id);
    state_.round = report.place->round;
    state_.newest_signal =
        std::max(state_.newest_signal, report.forwarded_signal);
    is_alive = is_alive || report.phase != NodePhase::kIdle;
    if (!report.round_end.has_value()) continue;
    // The earlier coordinator has ended the round and counted the restart that
    // its failure cost. So take over the number of used restarts from the
    // report.
    state_.restarts_used = RestartsUsed(state_, report);
  }
  MUSTER_CHECK(state_.round > 0) << "an adopted world without members";
  state_.earlier.world = {.epoch = state_.world.epoch, .round = state_.round};
  const Report* const ended = EndThatCounts(state_.earlier.world, all);
  if (!state_.own_endpoint.empty()) {
    state_.lost_host = LostHost::Of(state_.world, state_.round, reports,
                                    state_.now, state_.spec.lease());
    if (decision == Adoption::Decision::kStop) {
      state_.electors = Electors::Of(NewestElectorate(all));
    } else {
      Elect();
    }
    state_.standbys =
        Standbys::Of(state_.world, state_.nodes, state_.own_endpoint);
  }
  if (!is_alive && ended != nullptr && !ended->round_end->exit_code) {
    // The earlier coordinator has ended the round, and no worker of the round
    // is left. There is nothing to stop, so gather nodes for the next round.
    const RoundEnd& end = *ended->round_end;
    state_.earlier.end = end;
    state_.why = end.reason;
    state_.world.unknown = 0;
    // This coordinator does not know which failure broke the round. It may have
    // been a failure of the network or of a node, so check the nodes by pairs,
    // as IsSuspicious does for an unknown cause.
    if (end.cause == StopCause::kBroken) Suspect(state_);
    state_.gathering.Begin(state_.now);
    return;
  }
  state_.Enter(JobPhase::kRunning);
  state_.why = absl::StrCat(Counted(state_.world.size(), "node"), ", ",
                            Counted(state_.world.world_size, "worker"));
  for (const World::Member& member : state_.world.members) {
    Node* const node = state_.nodes.Find(member.node_id);
    if (node != nullptr) JoinAdopted(*node, reports.at(member.node_id));
  }
  if (ended != nullptr) EndAdopted(*ended->round_end, all);
}

void Job::LoseHost() {
  const LostHost host = *std::exchange(state_.lost_host, std::nullopt);
  const Failure failure = host.AsFailure();
  const std::string text = host.Text();
  outbox_.Note("lost", "", text);
  state_.world.RememberDeparture("", host.rank, "lost: it coordinated the job");
  if (state_.phase == JobPhase::kRunning) {
    state_.blame.Add(failure);
    BreakRound(text, {.cause = StopCause::kBroken});
  } else if (state_.phase == JobPhase::kStopping &&
             state_.stopping.consequence.IsFailure()) {
    // The other workers failed only because those of the lost node died. So
    // record the loss as the cause of the break, in place of the failure. A
    // lost node is a change of membership, which spends no restart.
    state_.blame.MoveToLoss(failure);
    Excuse("", text);
  }
}

void Job::JoinElectors(Node& node, const Report& report) {
  const int rank = state_.electors.Join(report);
  state_.later.Follow(node, report, state_.epoch, state_.electors.world,
                      state_.spec);
  if (rank < 0) return;
  state_.nodes.Update(node, [&](Node& n) {
    n.elector_rank = rank;
    n.is_spare = false;
  });
}

void Job::Elect() {
  state_.electors = Electors::Of(state_.world, state_.round, state_.nodes);
  const Electors& electors = state_.electors;
  std::set<std::string> members;
  for (const World::Member& member : state_.world.members) {
    // The node id of a member that has not reported is in `host`.
    members.insert(member.node_id.empty() ? member.host : member.node_id);
  }
  // Decide which nodes are spares. The members of the world are none. Of the
  // other nodes, those that joined last become spares if there are more of them
  // than the job has room for.
  std::vector<Node*> others;
  for (auto& [id, node] : state_.nodes.nodes()) {
    const int rank = electors.RankOf(node.identity, state_.spec);
    const bool is_member = members.contains(id);
    state_.nodes.Update(node, [&](Node& n) {
      n.elector_rank = rank;
      n.is_spare = n.is_spare && !is_member;
    });
    if (!node.is_spare && !is_member) others.push_back(&node);
  }
  std::ranges::sort(others, {}, &Node::joined);
  const auto lost = static_cast<int>(LostNodes(state_).size());
  const int room = std::max(0, state_.spec.max_nodes - electors.nodes - lost);
  for (int i = room; i < std::ssize(others); ++i) {
    state_.nodes.Update(*others[i], [](Node& n) { n.is_spare = true; });
  }
}

void Job::EndAdopted(const RoundEnd& end,
                     const std::vector<const Report*>& reports) {
  state_.earlier.end = end;
  // The earlier coordinator has already recorded why the round ended. So the
  // loss of that coordinator's node (lost_host) must not become the cause.
  state_.lost_host.reset();
  if (end.exit_code == 0) {
    Conclude(NewVerdict(Outcome::kSucceeded, 0, end.reason));
    return;
  }
  Stopping stopping{.cause = end.cause};
  if (const auto verdict = VerdictOf(end, reports); verdict.has_value()) {
    stopping.consequence = Consequence::End(*verdict);
  } else if (!end.exit_code.has_value() &&
             state_.restarts_used > state_.world.restart_count) {
    stopping.consequence = Consequence::Restart();
  }
  BreakRound(end.reason, std::move(stopping));
  state_.blame.Tell(end.reason);
}

void Job::TakeEnd(const Report& report) {
  EarlierRound& earlier = state_.earlier;
  const bool was_given_up = state_.round == 0;
  if (was_given_up && !state_.own_endpoint.empty()) {
    earlier.TakeVoidCancel(report, state_.newest_reported);
  }
  if (!earlier.exists()) return;
  if (earlier.IsSuperseded(report)) {
    if (earlier.verdict.has_value()) state_.blame.Clear();
    earlier = {};
    return;
  }
  const auto fate = was_given_up ? EarlierRound::Fate::kGivenUp
                                 : EarlierRound::Fate::kAdopted;
  if (!earlier.Accepts(report, state_.epoch, fate)) return;
  const RoundEnd& end = *report.round_end;
  const std::optional<Verdict> verdict = VerdictOf(end, {&report});
  switch (state_.phase) {
    case JobPhase::kGathering:
      earlier.end = end;
      earlier.verdict = verdict;
      if (verdict.has_value()) state_.blame.Tell(verdict->reason);
      outbox_.Reword();
      break;
    case JobPhase::kRunning:
      EndAdopted(end, {&report});
      break;
    case JobPhase::kStopping:
      earlier.end = end;
      CancelStopping(*verdict);
      break;
    case JobPhase::kFinished:
      break;
  }
}

void Job::ConsiderGathering() {
  if (state_.adoption.pending()) {
    ConsiderAdoption();
    if (state_.phase != JobPhase::kGathering || state_.adoption.pending()) {
      return;
    }
  }
  if (state_.recalled.has_value()) {
    if (state_.now >= *PhaseLimit(state_)) Finish(*state_.recalled);
    return;
  }
  if (EndsAsTold(state_)) {
    Finish(*state_.earlier.verdict);
    return;
  }
  if (NetworkCheck* const check = state_.checks.current(); check != nullptr) {
    check->EndRoundIfDue(state_.now);
  }
  WaiveFaults(state_, outbox_);
  const JobSpec& spec = state_.spec;
  const Membership& nodes = state_.nodes;
  const int present = static_cast<int>(nodes.size());
  // No world may form in two cases: too few of the electors (the nodes that
  // elect a coordinator) are present, or a world that is newer than that of the
  // electors may be running. In these cases, tell Gathering that fewer than
  // min_nodes nodes are present, so that no world forms.
  const bool may_run = state_.later.exists();
  const int too_few = spec.min_nodes - 1;
  const Gathering::Decision decision = state_.gathering.Decide(
      state_.now, spec,
      {.present = may_run || LacksElectors(state_, Among::kAll)
                      ? std::min(present, too_few)
                      : present,
       .ready = may_run || LacksElectors(state_, Among::kReady)
                    ? std::min(nodes.ready(), too_few)
                    : UsableNodes(state_),
       .being_checked = nodes.being_checked(),
       .broken = nodes.broken(),
       .unanswered = nodes.unanswered(),
       .previous_world = state_.world.size()},
      state_.clock);
  switch (decision) {
    case Gathering::Decision::kWait:
      break;
    case Gathering::Decision::kForm:
      if (state_.earlier.verdict.has_value()) {
        if (state_.now >= state_.gathering.Limit(spec, state_.clock)) {
          Finish(VerdictAsTold(state_, spec.join_timeout));
        }
        break;
      }
      if (CheckDelaysWorld(state_, outbox_)) break;
      if (ConcludeCheck(state_, outbox_)) {
        // The check by pairs (--network-check) has found bad nodes or nodes
        // that are good again, so the number of nodes that can get a place has
        // changed. If there are new faults, form no world until they are
        // counted against their machines.
        state_.awaits_judgement = outbox_.HasFaults();
        if (!state_.awaits_judgement) ConsiderGathering();
        return;
      }
      FormWorld();
      break;
    case Gathering::Decision::kTimeOut: {
      if (state_.earlier.verdict.has_value()) {
        Finish(VerdictAsTold(state_, spec.join_timeout));
        break;
      }
      if (may_run || LacksElectors(state_, Among::kReady)) {
        Finish(NewVerdict(Outcome::kTimedOut, 1,
                          NoMajority(state_, spec.join_timeout)));
        break;
      }
      const bool was_unhealthy =
          !nodes.kept_out().empty() || nodes.being_checked() > 0;
      Finish(NewVerdict(
          Outcome::kTimedOut, 1,
          absl::StrCat("only ", nodes.ready(), " of at least ",
                       Counted(spec.min_nodes, "node"),
                       was_unhealthy ? " came and were found healthy within "
                                     : " came within ",
                       ToSeconds(spec.join_timeout), " s", Absent(state_),
                       KeptOut(state_, nullptr))));
      break;
    }
    case Gathering::Decision::kGiveUp:
      if (state_.earlier.verdict.has_value()) {
        Finish(VerdictAsTold(state_, spec.rejoin_timeout));
        break;
      }
      if (may_run || LacksElectors(state_, Among::kAll)) {
        Finish(NewVerdict(Outcome::kTimedOut, 1,
                          NoMajority(state_, spec.rejoin_timeout)));
        break;
      }
      Finish(NewVerdict(
          Outcome::kTimedOut, 1,
          absl::StrCat("only ", present, " of at least ",
                       Counted(spec.min_nodes, "node"),
                       present == 1 ? " is" : " are",
                       " left, and no other came within ",
                       ToSeconds(spec.rejoin_timeout), " s", Absent(state_))));
      break;
  }
}

void Job::SetAside(std::vector<Candidate>& candidates) const {
  if (state_.hosts == nullptr) return;
  const auto judgement_of =
      [&](const Candidate& candidate) -> const HostJudgement& {
    return state_.nodes.Find(candidate.identity->node_id)->judgement;
  };
  const auto is_elector = [&](const Candidate& candidate) {
    return state_.electors.RankOf(*candidate.identity, state_.spec) >= 0;
  };
  // The number of candidates for the new world that are electors. The code
  // below removes candidates on suspected and quarantined machines, but never
  // so many that the rest may form no world (AreHalf, OthersAreTooFew).
  auto electors =
      static_cast<int>(std::ranges::count_if(candidates, is_elector));
  const auto is_needed = [&](const Candidate& candidate) {
    const bool lacks = !state_.electors.AreHalf(
        electors - (is_elector(candidate) ? 1 : 0), state_.spec);
    if (!lacks || state_.spec.takeover != Takeover::kAuto) return lacks;
    std::vector<const Node*> others;
    for (const Candidate& other : candidates) {
      if (other.identity == candidate.identity) continue;
      others.push_back(state_.nodes.Find(other.identity->node_id));
    }
    return !OthersAreTooFew(state_, others);
  };
  const auto set_aside = [&](HostState state, int least) {
    std::vector<Candidate> worst_first;
    for (const Candidate& candidate : candidates) {
      if (judgement_of(candidate).state == state) {
        worst_first.push_back(candidate);
      }
    }
    std::ranges::stable_sort(
        worst_first, [&](const Candidate& a, const Candidate& b) {
          return judgement_of(a).score > judgement_of(b).score;
        });
    for (const Candidate& worst : worst_first) {
      if (std::ssize(candidates) <= least) return;
      if (is_needed(worst)) continue;
      electors -= is_elector(worst) ? 1 : 0;
      std::erase_if(candidates, [&](const Candidate& candidate) {
        return candidate.identity == worst.identity;
      });
    }
  };
  set_aside(HostState::kQuarantined, state_.spec.min_nodes);
  set_aside(HostState::kSuspected, state_.spec.max_nodes);
}

void Job::FormWorld() {
  std::map<std::string, int> previous;
  if (state_.electors.nodes > 0) {
    // Take the previous ranks from the electors' world. It is the newest world
    // that is known to have begun, and only in such a world may nodes claim
    // their previous ranks.
    for (const auto& [id, elector] : state_.electors.known) {
      previous[id] = elector.rank;
    }
  } else {
    for (int i = 0; i < state_.world.size(); ++i) {
      previous[state_.world.members[i].node_id] = i;
    }
  }
  std::vector<Candidate> candidates;
  for (auto& [id, node] : state_.nodes.nodes()) {
    if (!node.ready()) continue;
    Candidate candidate{.identity = &node.identity, .joined = node.joined};
    if (auto it = previous.find(id); it != previous.end()) {
      candidate.previous_rank = it->second;
    }
    candidates.push_back(candidate);
  }
  SetAside(candidates);
  if (state_.electors.nodes > 0 &&
      std::ssize(candidates) > state_.spec.max_nodes) {
    // More nodes are ready than can get a rank. Order them by preference: first
    // the electors (the nodes that elect a coordinator), then other nodes that
    // are no spares, last the spares; equal ones in the order of joining. So
    // the world contains half of the electors if half of them are ready. If
    // fewer are, it contains so many nodes that those outside of it, without
    // spares, are too few for another world (OthersAreTooFew).
    std::ranges::stable_sort(candidates, {}, [&](const Candidate& candidate) {
      const bool is_elector =
          state_.electors.RankOf(*candidate.identity, state_.spec) >= 0;
      const bool is_spare =
          state_.nodes.Find(candidate.identity->node_id)->is_spare;
      return std::pair(is_elector ? 0 : is_spare ? 2 : 1, candidate.joined);
    });
    candidates.resize(state_.spec.max_nodes);
  }
  std::vector<Node*> nodes;
  for (const Candidate& candidate : candidates) {
    nodes.push_back(state_.nodes.Find(candidate.identity->node_id));
  }
  const Assignment assignment = AssignRanks(candidates, state_.spec.max_nodes);
  MUSTER_CHECK(!assignment.order.empty());
  std::vector<const Node*> members;
  for (const size_t i : assignment.order) members.push_back(nodes[i]);
  // A world needs at least half of the electors, or else the nodes outside of
  // the world must be too few for a world of their own. A world forms only if
  // this holds for all ready nodes (LacksElectors). It still holds for the
  // members, because SetAside preserves it, and because electors and nodes that
  // are no spares have been preferred.
  const auto electors =
      static_cast<int>(std::ranges::count_if(members, [&](const Node* member) {
        return state_.electors.RankOf(member->identity, state_.spec) >= 0;
      }));
  MUSTER_CHECK(state_.electors.AreHalf(electors, state_.spec) ||
               OthersAreTooFew(state_, members))
      << "a world without half of the electors";
  ++state_.changes;

  std::vector<const NodeIdentity*> ordered;
  for (size_t i : assignment.order) ordered.push_back(candidates[i].identity);
  state_.world = LayOut(ordered);
  state_.world.epoch = state_.epoch;
  Node& master = *nodes[assignment.order[0]];
  state_.world.master_address = master.identity.address;
  state_.world.master_port = master.offered_master_port;
  if (master.offered_nccl_id != master.spent_nccl_id) {
    state_.world.nccl_id = master.offered_nccl_id;
    master.spent_nccl_id = master.offered_nccl_id;
  }
  if (state_.spec.store_host == StoreHost::kAgent) {
    std::vector<std::vector<std::string>> addresses;
    for (const size_t i : assignment.order) {
      std::vector<std::string>& of_node = addresses.emplace_back();
      of_node.push_back(nodes[i]->identity.address);
      of_node.insert(of_node.end(), nodes[i]->addresses.begin(),
                     nodes[i]->addresses.end());
    }
    state_.world.store_clients = StoreClients(addresses);
  }
  state_.world.restart_count = state_.restarts_used;
  state_.world.electors =
      static_cast<int>(std::ranges::count_if(members, [&](const Node* member) {
        return state_.electors.Has(member->identity);
      }));
  state_.world.electorate = state_.electors.world;
  state_.world.reached_step = state_.reached_step;
  state_.world.began = state_.now;
  state_.world.unstarted = state_.world.size();
  // A node without a place may know a later round than all nodes with a place
  // (newest_reported).
  state_.round = std::max({state_.round, state_.claimed_round,
                           state_.newest_reported.round}) +
                 1;
  state_.earlier = {};
  state_.gathering.End();
  if (state_.checks.is_due()) ++state_.handover.number;
  state_.checks.End();
  state_.blame.Clear();
  state_.signals.clear();
  state_.lost_host.reset();
  if (!state_.own_endpoint.empty()) {
    state_.standbys =
        Standbys::Of(state_.world, state_.nodes, state_.own_endpoint);
    // The nodes of the job's first world are the electors as soon as it forms,
    // because there is no older world whose nodes could elect.
    if (state_.electors.nodes == 0) {
      Elect();
      state_.electors.is_forming = true;
    } else if (!state_.spec.RestartedAgentsElect()) {
      state_.later = LaterWorld::Formed(
          {.epoch = state_.epoch, .round = state_.round}, members);
    }
  }
  state_.rendezvous_times.Add(state_.now - state_.clock.since);
  state_.Enter(JobPhase::kRunning);
  state_.why = absl::StrCat(Counted(state_.world.size(), "node"), ", ",
                            Counted(state_.world.world_size, "worker"));
  outbox_.Reword();
  for (const std::string& note : assignment.notes) {
    outbox_.Note("rank", "", note);
  }
  outbox_.Note(
      "assign", "",
      absl::StrCat("round ", state_.round, " begins: ", state_.why, ", master ",
                   state_.world.master_address, ":", state_.world.master_port,
                   ", ", state_.restarts_used, " of ", state_.spec.max_restarts,
                   " restarts used"));
  for (size_t rank = 0; rank < assignment.order.size(); ++rank) {
    Node& node = *nodes[assignment.order[rank]];
    state_.nodes.Update(node, [&](Node& n) {
      n.part = Part::kAssigned;
      n.group_rank = static_cast<int>(rank);
      n.failures_taken = 0;
    });
    state_.world.members[rank].peer = node.peer;
    if (node.judgement.state == HostState::kQuarantined) {
      outbox_.Note("quarantine", node.identity.node_id,
                   absl::StrCat(node.identity.host,
                                " takes part although it is "
                                "quarantined: the job has too few other nodes "
                                "(",
                                JudgementText(node.judgement), ")"));
    }
    outbox_.Tell(node);
  }
}

void Job::ConsiderRunning() {
  const bool has_begun =
      state_.world.unstarted == 0 && state_.world.unknown == 0;
  if (has_begun && state_.broken_at.has_value()) {
    state_.recovery_times.Add(state_.now - *state_.broken_at);
    state_.broken_at.reset();
  }
  if (has_begun) state_.electors.is_forming = false;
  if (!state_.own_endpoint.empty() && has_begun &&
      state_.electors.world !=
          WorldId{.epoch = state_.world.epoch, .round = state_.round}) {
    Elect();
    TellMembers();
  }
  if (state_.world.succeeded == state_.world.size()) {
    Conclude(state_.preemption.has_value()
                 ? PreemptionVerdict(state_)
                 : NewVerdict(Outcome::kSucceeded, 0, kSuccess));
    return;
  }
  if (state_.preemption.has_value() &&
      state_.now >= state_.preemption->deadline) {
    BreakRound(
        absl::StrCat(PreemptionVerdict(state_).reason, "; the grace is over"),
        {.cause = StopCause::kAsked});
    return;
  }
  if (const std::optional<Instant> limit = StartLimit(state_);
      limit.has_value() && state_.now >= *limit) {
    if (state_.lost_host.has_value() &&
        state_.now >= state_.clock.Postponed(state_.lost_host->due)) {
      LoseHost();
      return;
    }
    if (state_.world.unknown > 0 &&
        state_.now >= state_.clock.Postponed(state_.world.unknown_until)) {
      BreakRound(absl::StrCat(Counted(state_.world.unknown, "node"), " of ",
                              state_.world.size(),
                              " did not come to the new coordinator within "
                              "the lease of ",
                              ToSeconds(state_.spec.lease()), " s"),
                 {.cause = StopCause::kBroken});
      return;
    }
    for (const World::Member& member : state_.world.members) {
      Node* node = state_.nodes.Find(member.node_id);
      if (node == nullptr || node->part != Part::kAssigned) continue;
      Lose(*node,
           absl::StrCat("it did not start its workers within ",
                        ToSeconds(state_.spec.join_timeout), " s"),
           Membership::Memory::kMayReturn);
      return;
    }
  }
  if (const Node* const node = MemberToReplace(state_); node != nullptr) {
    BreakRound(absl::StrCat(node->identity.host,
                            " is quarantined and a spare is ready "
                            "(--evict-stragglers)"),
               {.cause = StopCause::kAsked});
    return;
  }
  if (SpareWaits(state_) &&
      state_.now >= state_.world.began + state_.spec.scale_up_cool_down) {
    BreakRound(absl::StrCat(Counted(GoodSpares(state_), "node"),
                            " waited to be let in"),
               {.cause = StopCause::kAsked});
  }
}

void Job::Conclude(const Verdict& verdict) {
  if (state_.electors.nodes == 0) {
    Finish(verdict);
    return;
  }
  ++state_.changes;
  // Enter the phase kStopping although no worker is left to be stopped: the
  // stop order of this phase makes the verdict known to the nodes.
  state_.stopping = {.cause = StopCause::kAsked,
                     .consequence = Consequence::End(verdict)};
  state_.Enter(JobPhase::kStopping);
  state_.why = verdict.reason;
  state_.world.unstopped = 0;
  for (const World::Member& member : state_.world.members) {
    Node* const node = state_.nodes.Find(member.node_id);
    if (node != nullptr && node->part != Part::kNone) {
      node->part = Part::kStopped;
    }
  }
  TellMembers();
}

void Job::BreakRound(const std::string& why, Stopping stopping,
                     const Failure* failure) {
  ++state_.changes;
  state_.blame.Break(state_.now, outbox_.revision(), why, failure);
  state_.stopping = std::move(stopping);
  if (!state_.broken_at.has_value()) state_.broken_at = state_.now;
  state_.Enter(JobPhase::kStopping);
  state_.why = why;
  state_.speaker = ChooseSpeaker(state_);
  outbox_.Reword();
  outbox_.Note("break", "",
               absl::StrCat("round ", state_.round, " is broken: ", why),
               state_.stopping.cause == StopCause::kBroken
                   ? state_.blame.failures().cause()
                   : std::nullopt);
  state_.world.unstopped = 0;
  for (const World::Member& member : state_.world.members) {
    Node* node = state_.nodes.Find(member.node_id);
    if (node == nullptr || node->part == Part::kNone) continue;
    const bool stopped =
        node->round == state_.round && (node->phase == NodePhase::kIdle ||
                                        node->phase == NodePhase::kSucceeded);
    node->part = stopped ? Part::kStopped : node->part;
    state_.world.unstopped += stopped ? 0 : 1;
  }
  for (auto& [id, node] : state_.nodes.nodes()) {
    if (node.stream != 0 || node.is_restored) continue;
    // The round stops anyway, so the loss of the node need not wait for the
    // announcement of another coordinator (ExpireLeases).
    const Instant lost = node.broken_since + state_.spec.reconnect_grace;
    state_.nodes.SetDeadline(
        node, std::min(node.deadline, std::max(lost, state_.now)));
  }
  state_.stopping.Limit(state_.now, state_.spec.shutdown_timeout);
  TellMembers();
}

void Job::BreakForFailure(const Failure& failure) {
  const std::string why = ReasonOfBreak(state_, failure);
  const Verdict verdict =
      NewVerdict(Outcome::kFailed, ExitCodeOf(failure), why);
  if (state_.preemption.has_value()) {
    // The other members would wait for the failed worker in vain, so the round
    // breaks. No restart is spent: the job ends as preempted, and the verdict
    // names this failure.
    BreakRound(why, {}, &failure);
  } else if (failure.kind == FailureKind::kStartFailed) {
    // A program that cannot be started now cannot be started later either: no
    // restart is spent on it.
    BreakRound(why, {.consequence = Consequence::End(verdict)});
  } else if (state_.restarts_used >= state_.spec.max_restarts) {
    BreakRound(why, {.consequence = Consequence::End(verdict)}, &failure);
  } else {
    ++state_.restarts_used;
    BreakRound(why, {.consequence = Consequence::Restart()}, &failure);
  }
}

void Job::Excuse(const std::string& node_id, const std::string& why) {
  state_.restarts_used -= state_.stopping.consequence.Withdraw();
  // The event that now becomes the cause of the round's break is a failure only
  // if it is the loss of a node. A leaving node or a preemption is no failure.
  const std::optional<Failure>& cause = state_.blame.failures().cause();
  const bool is_loss =
      cause.has_value() && cause->kind == FailureKind::kNodeLost;
  Reblame(node_id, why, {.decision = "blame", .instead_of = "; not by "},
          is_loss ? cause : std::nullopt);
}

void Job::Reblame(const std::string& node_id, const std::string& why,
                  const Blame::Move& move,
                  const std::optional<Failure>& failure) {
  ++state_.changes;
  ++state_.stopping.causes_replaced;
  state_.why = why;
  outbox_.Reword();
  outbox_.Note(move.decision, node_id,
               absl::StrCat("round ", state_.round, " broke because ", why,
                            move.instead_of, state_.blame.why()),
               failure);
  TellMembers();
}

void Job::Cancel(const std::string& why, const CancelWish& wish) {
  if (finished()) return;
  Verdict verdict = NewVerdict(Outcome::kCancelled, 128 + wish.signal,
                               absl::StrCat("cancelled: ", why));
  if (state_.phase == JobPhase::kGathering) {
    Finish(std::move(verdict));
    return;
  }
  if (state_.phase == JobPhase::kRunning) {
    BreakRound(verdict.reason, {.signal = wish.signal,
                                .at_once = wish.at_once,
                                .cause = StopCause::kCancelled,
                                .consequence = Consequence::End(verdict)});
    return;
  }
  CancelStopping(verdict);
  if (wish.at_once && state_.stopping.Hurry(state_.now)) TellMembers();
}

void Job::CancelStopping(const Verdict& verdict) {
  const bool taken = state_.stopping.consequence.Cancel(
      verdict, state_.blame.provisional() ? Consequence::Cause::kProvisional
                                          : Consequence::Cause::kFinal);
  if (!taken) return;
  ++state_.changes;
  outbox_.Note("cancel", "", verdict.reason);
  TellMembers();
}

void Job::Preempt(const Node& by, const PreemptionNotice& notice) {
  // Makes the preemption the cause of the break in place of a failure. Called
  // several times, because each report repeats the preemption notice.
  const auto excuse = [&] {
    if (state_.blame.PreemptionExplains(by) &&
        state_.stopping.consequence.IsFailure()) {
      Excuse(by.identity.node_id, PreemptionReason(state_));
    }
  };
  const Instant deadline =
      state_.now +
      std::clamp(notice.left, Duration::zero(), state_.spec.preempt_grace);
  if (state_.preemption.has_value()) {
    // A second signal to a node ends the grace period at once: `notice.left` is
    // then 0. Do not record a decision here, because each report of the node
    // repeats the notice of the preemption.
    state_.preemption->deadline =
        std::min(state_.preemption->deadline, deadline);
    // Several nodes may report the preemption. This node's report may show that
    // the preemption caused the failure that broke the round, even if the
    // earlier reports of other nodes did not show this.
    excuse();
    return;
  }
  ++state_.changes;
  // While gathering, the failures of the last round have been handled already,
  // so they must not appear in the preemption's verdict.
  if (state_.phase == JobPhase::kGathering) state_.blame.Clear();
  state_.preemption = Preemption{
      .notice = {.signal = notice.signal, .host = notice.host},
      .deadline = deadline,
  };
  const std::string what = PreemptionVerdict(state_).reason;
  outbox_.Note("preempt", by.identity.node_id,
               absl::StrCat(what, "; workers may run for ",
                            ToSeconds(deadline - state_.now), " s more"));
  outbox_.Reword();
  switch (state_.phase) {
    case JobPhase::kGathering:
      Finish(PreemptionVerdict(state_));
      break;
    case JobPhase::kRunning:
      state_.why = what;
      if (state_.world.unstarted > 0) {
        // Some nodes have not started their workers yet, and must not start
        // them any more, because the job is preempted. So the round is broken.
        BreakRound(what, {.cause = StopCause::kAsked});
        break;
      }
      TellMembers();
      break;
    case JobPhase::kStopping:
      // The round is already stopping. If the preemption explains the failure
      // that broke the round, make the preemption the cause. If the break does
      // not end the job by itself, the job ends with the verdict of the
      // preemption.
      excuse();
      TellMembers();
      break;
    case JobPhase::kFinished:
      break;
  }
}

void Job::ConsiderStopping() {
  if (state_.world.unstopped > 0 &&
      state_.now >= state_.clock.Postponed(state_.stopping.deadline)) {
    for (const World::Member& member : state_.world.members) {
      Node* node = state_.nodes.Find(member.node_id);
      if (node == nullptr || node->part == Part::kNone ||
          node->part == Part::kStopped) {
        continue;
      }
      Lose(*node, "its workers would not stop within the grace",
           Membership::Memory::kMayReturn);
    }
  }
  if (state_.world.unstopped > 0) return;
  if (const auto& verdict = state_.stopping.consequence.verdict();
      verdict.has_value()) {
    if (state_.blame.AwaitsProofOfLife(state_.nodes, state_.now)) return;
    const std::optional<Instant> limit = AwaitsWitnesses(state_);
    if (limit.has_value() && state_.now < *limit) return;
    if (limit.has_value() && verdict->outcome == Outcome::kFailed) {
      Finish(NewVerdict(Outcome::kTimedOut, verdict->exit_code,
                        absl::StrCat(verdict->reason, "; ",
                                     TooFewWitnesses(state_, *limit))));
      return;
    }
    Finish(*verdict);
  } else if (state_.preemption.has_value()) {
    const std::optional<Instant> limit = AwaitsWitnesses(state_);
    if (limit.has_value() && state_.now < *limit) return;
    Finish(PreemptionVerdict(state_));
  } else if (state_.world.succeeded == state_.world.size()) {
    // The round was stopped, but all workers had succeeded before the stop
    // order reached them. So the job has succeeded.
    Conclude(NewVerdict(Outcome::kSucceeded, 0, kSuccess));
  } else {
    CountIncident(state_, outbox_);
    if (IsSuspicious(state_)) Suspect(state_);
    const Duration delay = DelayOfNextRound(state_);
    ++state_.changes;
    state_.Enter(JobPhase::kGathering);
    state_.gathering.Begin(state_.now + delay);
    outbox_.Reword();
    if (delay > Duration::zero()) {
      outbox_.Note("backoff", "", BackoffText(state_, state_.now));
    }
    for (auto& [id, node] : state_.nodes.nodes()) {
      if (node.fault_is_waived) {
        state_.nodes.Update(node, [](Node& n) { n.fault_is_waived = false; });
      }
      if (node.part == Part::kNone) continue;
      state_.nodes.Update(node, [](Node& n) { n.part = Part::kNone; });
      if (node.going || delay > Duration::zero()) outbox_.Tell(node);
    }
  }
}

void Job::Finish(Verdict verdict) {
  ++state_.changes;
  if (state_.recalled.has_value()) {
    verdict = *state_.recalled;
  } else {
    if (verdict.outcome == Outcome::kFailed) CountIncident(state_, outbox_);
    Stamp(state_, verdict);
    if (verdict.outcome != Outcome::kSucceeded) {
      state_.blame.failures().Tell(verdict);
    }
  }
  state_.Enter(JobPhase::kFinished);
  state_.why = verdict.reason;
  state_.verdict = std::move(verdict);
  state_.speaker = ChooseSpeaker(state_);
  outbox_.Note("finish", "", state_.why);
  for (auto& [id, node] : state_.nodes.nodes()) outbox_.Tell(node);
  for (const auto& [stream, successor] : state_.successors) {
    outbox_.TellFinished(stream, successor.node_id, successor.host);
  }
}

void Job::TellMembers() {
  for (auto& [id, node] : state_.nodes.nodes()) {
    if (node.part != Part::kNone || node.told.kind == DirectiveKind::kStop) {
      outbox_.Tell(node);
    }
  }
}

}  // namespace muster::rendezvous
