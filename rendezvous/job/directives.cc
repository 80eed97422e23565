#include "rendezvous/job/directives.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/message_text.h"

namespace muster::rendezvous {
namespace {

// Whether `round` is the round with which an earlier coordinator ended the job
// (EarlierRound::verdict).
bool EndedTheJob(const JobState& state, int round) {
  return state.phase == JobPhase::kGathering &&
         state.earlier.verdict.has_value() &&
         round == state.earlier.world.round;
}

StopOrder StopOrderFor(const JobState& state, int round) {
  if (EndedTheJob(state, round)) {
    const RoundEnd& end = state.earlier.end;
    return {.round = round,
            .grace = state.spec.shutdown_timeout,
            .cause = end.cause,
            .exit_code = end.exit_code,
            .cancelled = end.cancelled};
  }
  const bool ours = round == state.round && state.phase == JobPhase::kStopping;
  const Stopping& stopping = state.stopping;
  const std::optional<Verdict>& verdict = stopping.consequence.verdict();
  return {.round = round,
          .signal = ours ? stopping.signal : StopOrder().signal,
          .grace = ours && stopping.at_once ? Duration::zero()
                                            : state.spec.shutdown_timeout,
          .cause = ours ? stopping.cause : StopCause::kBroken,
          .exit_code = ours && verdict.has_value()
                           ? std::optional(verdict->exit_code)
                           : std::nullopt,
          .cancelled = ours && verdict.has_value() &&
                       verdict->outcome == Outcome::kCancelled};
}

// Returns Directive::prints_for_job for the directive whose key is `key`:
// whether the node prints the message for the whole job.
bool PrintsForJob(const JobState& state, const Node& node,
                  const DirectiveKey& key) {
  const bool is_speaker = node.identity.node_id == state.speaker;
  switch (key.kind) {
    case DirectiveKind::kRun:
      return node.group_rank == 0;
    case DirectiveKind::kStop:
      // The speaker (the node that prints for the whole job) prints the reason.
      // Another node prints it only if the stop order is for that node alone:
      // the node runs an earlier round, or was removed from the newest round.
      // An order to stop a later round than this coordinator knows (key.round >
      // state.round) goes to every node, so only the speaker prints its reason.
      return is_speaker || key.round < state.round ||
             (key.round == state.round && state.phase != JobPhase::kStopping);
    case DirectiveKind::kWait:
      // The speaker (the node that prints for the whole job) prints why the job
      // waits. While a round runs, only spares wait, and each spare prints the
      // reason why it waits.
      return is_speaker || state.phase == JobPhase::kRunning;
    case DirectiveKind::kHold:
    case DirectiveKind::kStandBy:
    case DirectiveKind::kMoved:
    case DirectiveKind::kFinished:
    case DirectiveKind::kReleased:
    case DirectiveKind::kRefused:
      break;
  }
  return false;
}

std::optional<PreemptionNotice> PreemptionAt(const JobState& state,
                                             Instant now) {
  if (!state.preemption.has_value()) return std::nullopt;
  PreemptionNotice notice = state.preemption->notice;
  notice.left = std::max(state.preemption->deadline - now, Duration::zero());
  return notice;
}

// Returns why `node` has to wait. `node` null: returns the text for the job's
// status: why the whole job waits, and which nodes are absent.
std::string WaitReason(const JobState& state, const Node* node, Instant now) {
  const JobSpec& spec = state.spec;
  const Membership& nodes = state.nodes;
  if (state.phase == JobPhase::kStopping) {
    return absl::StrCat("round ", state.round,
                        " is being stopped: ", state.why);
  }
  if (state.phase == JobPhase::kRunning) {
    if (state.world.size() >= spec.max_nodes) {
      return absl::StrCat("spare: round ", state.round,
                          " runs with all of its ", spec.max_nodes, " nodes");
    }
    const std::string runs =
        absl::StrCat("round ", state.round, " runs with ", state.world.size(),
                     " of up to ", spec.max_nodes, " nodes");
    const bool is_left_out =
        node != nullptr && (node->kept_out() || node->quarantined());
    if (is_left_out) return runs;
    return absl::StrCat(runs, "; ",
                        spec.scale_up == ScaleUp::kRestart
                            ? "this node is let in at the next round"
                            : "this node is a spare (--scale-up=never)");
  }
  if (state.adoption.pending()) {
    const Adoption::Progress progress = state.adoption.progress();
    if (progress.world == 0) {
      return "a new coordinator collects the reports of the nodes";
    }
    return absl::StrCat("a new coordinator collects the nodes of round ",
                        progress.round, ": ", progress.come, " of ",
                        progress.world, " have come");
  }
  if (state.recalled.has_value()) {
    return "this job had ended when its coordinator was killed; its verdict "
           "follows";
  }
  const Electors& electors = state.electors;
  const bool lacks_electors = LacksElectors(state, Among::kReady);
  if (state.earlier.verdict.has_value() && lacks_electors) {
    return absl::StrCat("the job had ended (", state.earlier.verdict->reason,
                        "), but only ", ElectorsHere(state, Among::kReady),
                        " of the ", Counted(electors.nodes, "node"),
                        " of round ", electors.world.round,
                        " are here: it may have gone on elsewhere");
  }
  if (lacks_electors && nodes.ready() >= spec.min_nodes) {
    return absl::StrCat("round ", electors.world.round,
                        " may go on elsewhere: only ",
                        ElectorsHere(state, Among::kReady), " of its ",
                        Counted(electors.nodes, "node"),
                        " are here, and no round begins without half of them");
  }
  if (nodes.ready() >= spec.min_nodes && state.later.exists()) {
    return MayRunText(state);
  }
  const bool first = state.gathering.first();
  std::string reason;
  const NetworkCheck* const check = state.checks.current();
  if (check != nullptr && check->is_measuring()) {
    return absl::StrCat("the ", check->size(),
                        " nodes are checked by pairs, round ", check->rounds());
  }
  if (!first) {
    absl::StrAppend(&reason, "round ", state.round, " is over (", state.why,
                    "); ");
  }
  const int here = nodes.ready() + nodes.unanswered();
  absl::StrAppend(&reason, here, " of ");
  if (here < spec.min_nodes) {
    absl::StrAppend(&reason, first ? "" : "at least ", spec.min_nodes,
                    " nodes here, waiting for ", spec.min_nodes - here, " more",
                    // If `node` is null, the text is for the job's status and
                    // also lists the absent nodes. A directive to a node does
                    // not list them, because the cost of a directive must not
                    // be O(n) in the number of nodes.
                    node == nullptr ? Absent(state) : std::string());
  } else {
    const std::string backoff = BackoffText(state, now);
    absl::StrAppend(&reason, "up to ", spec.max_nodes, " nodes here, ",
                    nodes.being_checked() > 0 ? "others are being checked"
                    : backoff.empty()         ? "last call for more"
                                              : backoff);
  }
  return absl::StrCat(reason, KeptOut(state, node),
                      QuarantinedText(state, node));
}

// Lists the agents that wait until another agent with their node id has ended.
// Shows each with its host and node id.
std::string SuccessorsText(const JobState& state) {
  std::string text;
  size_t named = 0;
  for (const auto& [stream, successor] : state.successors) {
    if (named++ == kMaxNamedNodes) return absl::StrCat(text, "; …");
    absl::StrAppend(&text, "; ", successor.host, " waits for the end of node ",
                    successor.node_id, " to take its place");
  }
  return text;
}

WorkerTimes TimesOf(const RankTimes& measured) {
  WorkerTimes times;
  times.local_rank = measured.local_rank;
  // A worker may count a wait for data that lies inside of a collective, so
  // that its waits may be longer than its own time.
  times.work = std::max(measured.own - measured.data, Duration::zero());
  times.data = measured.data;
  times.collectives = measured.blocked;
  return times;
}

NodeStatus StatusOf(const JobState& state, const Node& node, Instant now) {
  NodeStatus status;
  status.node = node.identity;
  status.phase = node.phase;
  status.round = node.round;
  if (node.part != Part::kNone) status.group_rank = node.group_rank;
  status.connected = node.stream != 0;
  status.draining = node.going;
  status.silent_for = now - node.heard;
  status.health = node.check_fault.empty() ? node.health : Health::kUnhealthy;
  status.unhealthy = node.complaint();
  status.judgement = node.judgement;
  status.time = node.time;
  if (node.part != Part::kNone && node.round == state.round) {
    status.progress = node.progress;
    for (WorkerProgress& worker : status.progress) {
      worker.silent_for += status.silent_for;
    }
    const int first_rank = state.world.members[node.group_rank].first_rank;
    for (const RankTimes& measured : node.times) {
      status.times.push_back(TimesOf(measured));
      if (state.stragglers.round() != state.round) continue;
      const auto divided =
          state.stragglers.DivisionOf(first_rank + measured.local_rank);
      status.times.back().wait = divided.wait;
      status.times.back().transfer = divided.transfer;
    }
  }
  return status;
}

// Returns this node's part of the network check by pairs that is in progress;
// nullopt: the node has no partner, or the partner was lost.
std::optional<PairCheck> PairCheckOf(const JobState& state, const Node& node) {
  const NetworkCheck& check = *state.checks.current();
  const auto partner = check.PartnerOf(node.identity.node_id);
  if (!partner.has_value()) return std::nullopt;
  const Node* const other = state.nodes.Find(partner->node_id);
  if (other == nullptr) return std::nullopt;
  return PairCheck{.number = check.number(),
                   .role = partner->role,
                   .partner = other->identity.host,
                   .address = other->identity.address,
                   .port = other->check_port,
                   .gpus = std::min(node.check_gpus, other->check_gpus),
                   .key = ""};
}

// Whether a node that was lost and has returned must receive the stop order
// with the verdict. True if a verdict is about to end the job and the node is
// an elector (a node that elects a coordinator): the end of the job waits until
// enough electors know the verdict.
bool MustKnowVerdict(const JobState& state, const Node& node) {
  if (node.going || !state.stopping.consequence.verdict().has_value()) {
    return false;
  }
  return state.electors.RankOf(node.identity, state.spec) >= 0;
}

// Returns Directive::took_part for the agent of node `node_id` on host `host`:
// whether the node took part in the job. O(n) for a world of n nodes.
bool TookPart(const JobState& state, const std::string& node_id,
              const std::string& host) {
  // Skip the search through the world unless the job has succeeded: after any
  // other outcome, agents do not read Directive::took_part.
  if (state.verdict->outcome != Outcome::kSucceeded) return false;
  if (state.recalled.has_value() || state.earlier.verdict.has_value())
    return true;
  return std::ranges::any_of(
      state.world.members, [&](const World::Member& member) {
        return member.node_id == node_id && member.host == host;
      });
}

}  // namespace

DirectiveKey KeyFor(const JobState& state, const Node& node) {
  DirectiveKey key;
  const bool member = node.part != Part::kNone;
  if (state.finished()) {
    key.kind = DirectiveKind::kFinished;
  } else if (state.adoption.Holds(node.identity.node_id)) {
    key.kind = DirectiveKind::kHold;
  } else if (state.phase == JobPhase::kRunning && member) {
    key.kind = DirectiveKind::kRun;
    key.round = state.round;
    key.newest_signal = state.signals.empty() ? 0 : state.newest_signal;
    key.preempted = state.preemption.has_value();
  } else if (state.phase == JobPhase::kStopping &&
             (member || MustKnowVerdict(state, node))) {
    key.kind = DirectiveKind::kStop;
    key.round = state.round;
    key.at_once = state.stopping.at_once;
    key.causes_replaced = state.stopping.causes_replaced;
    key.preempted = state.preemption.has_value();
  } else if (HasProcesses(node.phase)) {
    // The node runs a round that it does not belong to. Either the node lost
    // its lease, or the round belongs to an earlier coordinator.
    key.kind = DirectiveKind::kStop;
    key.round = node.round;
  } else if (node.going) {
    key.kind = DirectiveKind::kReleased;
  } else {
    key.kind = DirectiveKind::kWait;
  }
  if (key.kind == DirectiveKind::kStop) {
    const StopOrder stop = StopOrderFor(state, key.round);
    key.exit_code = stop.exit_code;
    key.cancelled = stop.cancelled;
  }
  if (member) key.electorate = state.electors.world;
  key.is_spare = node.is_spare;
  const NetworkCheck* const check = state.checks.current();
  if (key.kind == DirectiveKind::kWait && check != nullptr &&
      check->PartnerOf(node.identity.node_id).has_value()) {
    key.pair_check = check->number();
  }
  const bool tells_fault =
      key.kind == DirectiveKind::kWait || key.kind == DirectiveKind::kRun;
  if (tells_fault) key.check_fault = node.check_fault;
  return key;
}

uint64_t HandoverFor(const JobState& state, const Node& node) {
  const std::vector<std::string>& standbys = state.standbys.endpoints;
  const bool is_standby =
      !state.own_endpoint.empty() && !state.adoption.pending() &&
      std::ranges::find(standbys, node.standby_endpoint) != standbys.end();
  return is_standby ? 1 + state.handover.number : 0;
}

Directive DirectiveFor(const JobState& state, const Node& node) {
  const DirectiveKey key = KeyFor(state, node);
  Directive directive;
  directive.epoch = state.epoch;
  directive.revision = node.revision;
  directive.kind = key.kind;
  directive.reason = state.why;
  if (!state.adoption.pending()) {
    directive.restarts_used = state.restarts_used;
    directive.job_age = state.now - state.born;
  }
  directive.prints_for_job = PrintsForJob(state, node, key);
  directive.check_fault = key.check_fault;
  if (!state.own_endpoint.empty() && !state.adoption.pending()) {
    directive.electorate = {.epoch = state.epoch,
                            .world = state.electors.world,
                            .nodes = state.electors.nodes,
                            .rank = node.elector_rank,
                            .is_spare = node.is_spare,
                            .members = state.electors.members,
                            .incarnations = state.electors.incarnations};
    directive.standbys = state.standbys.endpoints;
    if (HandoverFor(state, node) > 0) {
      directive.handover = state.handover;
      directive.handover->check_is_due = state.checks.is_due();
    }
    directive.host_rank = state.standbys.host_rank;
  }
  switch (key.kind) {
    case DirectiveKind::kHold:
      directive.reason = WaitReason(state, &node, state.now);
      break;
    case DirectiveKind::kWait:
      directive.waits_for = state.phase == JobPhase::kRunning
                                ? WaitsFor::kPlace
                                : WaitsFor::kNodes;
      directive.reason = WaitReason(state, &node, state.now);
      if (key.pair_check > 0) {
        directive.pair_check = PairCheckOf(state, node);
      }
      if (node.quarantined()) {
        directive.reason = absl::StrCat(
            "the machine of this node is quarantined (",
            JudgementText(node.judgement),
            "): it gets a place only if the job has too few other nodes; ",
            directive.reason);
      } else if (node.judgement.state == HostState::kBanned) {
        directive.reason = absl::StrCat(
            "the machine of this node is banned: ", node.judgement.reason, " (",
            directive.reason, ")");
      } else if (node.kept_out_by_check()) {
        // The check by pairs has found this node bad. While a round runs, omit
        // directive.reason, which says only how many nodes run.
        directive.reason =
            state.phase == JobPhase::kRunning
                ? absl::StrCat("this node is not let in: ", node.check_fault)
                : absl::StrCat("this node is not let in: ", node.check_fault,
                               " (", directive.reason, ")");
      } else if (node.kept_out()) {
        directive.reason = absl::StrCat(
            "this node is not let in: ", node.unhealthy,
            "; it is looked at again and again (", directive.reason, ")");
      } else if (node.health == Health::kUnchecked) {
        directive.reason =
            absl::StrCat("this node is being checked (", directive.reason, ")");
      }
      break;
    case DirectiveKind::kRun:
      directive.place = state.world.PlaceOf(node.group_rank, state.round);
      directive.place.run_tag = state.run_tag;
      directive.answered_report = node.sequence;
      directive.signals = state.signals;
      directive.preemption = PreemptionAt(state, state.now);
      break;
    case DirectiveKind::kStop:
      directive.stop = StopOrderFor(state, key.round);
      directive.preemption = PreemptionAt(state, state.now);
      if (EndedTheJob(state, key.round)) {
        directive.reason = state.earlier.verdict->reason;
      } else if (key.round > state.round) {
        directive.reason =
            "a new coordinator does not know it, and no majority of its nodes "
            "has come";
      } else if (key.round < state.round ||
                 state.phase != JobPhase::kStopping) {
        directive.reason = "the job went on without this node";
      } else if (directive.stop.cancelled &&
                 state.stopping.consequence.verdict()->reason != state.why) {
        // The job was cancelled while a broken round stopped.
        absl::StrAppend(&directive.reason, "; ",
                        state.stopping.consequence.verdict()->reason);
      }
      break;
    case DirectiveKind::kFinished:
      directive.verdict = *state.verdict;
      directive.stop = StopOrderFor(state, node.round);
      directive.acts_for_job = node.identity.node_id == state.speaker;
      directive.took_part =
          node.part != Part::kNone ||
          TookPart(state, node.identity.node_id, node.identity.host);
      break;
    case DirectiveKind::kReleased:
      directive.reason = node.going_why;
      directive.stop = StopOrderFor(state, node.round);
      break;
    case DirectiveKind::kStandBy:
    case DirectiveKind::kMoved:
    case DirectiveKind::kRefused:
      break;
  }
  return directive;
}

JobStatus SummaryOf(const JobState& state, Instant now) {
  JobStatus status;
  status.run_id = state.run_id;
  status.spec = state.spec;
  status.spec.command.clear();  // the job's command may contain secrets
  status.phase = state.phase;
  status.reason = state.phase == JobPhase::kGathering
                      ? WaitReason(state, nullptr, now)
                      : state.why;
  if (!state.finished()) absl::StrAppend(&status.reason, SuccessorsText(state));
  status.round = state.round;
  status.restarts_used = state.restarts_used;
  if (state.phase == JobPhase::kRunning || state.phase == JobPhase::kStopping) {
    status.world_size = state.world.world_size;
    status.master_address = state.world.master_address;
    status.master_port = state.world.master_port;
  }
  status.preemption = PreemptionAt(state, now);
  status.age = now - state.born;
  status.phase_age = now - state.clock.since;
  status.verdict = state.verdict;
  status.time = state.ledger.Read(state.round);
  status.standbys = state.standbys.endpoints;
  status.rendezvous_times = state.rendezvous_times;
  status.recovery_times = state.recovery_times;
  if (state.phase == JobPhase::kRunning &&
      state.stragglers.round() == state.round) {
    for (const SlowRank& slow : state.stragglers.slow()) {
      if (std::ssize(status.slow_ranks) == kMaxSlowRanks) break;
      status.slow_ranks.push_back(Located(state, slow));
    }
    status.slow_ranks_gain = state.stragglers.gain();
  }
  return status;
}

JobStatus StatusOf(const JobState& state, Instant now) {
  JobStatus status = SummaryOf(state, now);
  for (const auto& [id, node] : state.nodes.nodes()) {
    status.nodes.push_back(StatusOf(state, node, now));
  }
  std::stable_sort(status.nodes.begin(), status.nodes.end(),
                   [](const NodeStatus& a, const NodeStatus& b) {
                     constexpr int kLast = 1 << 30;
                     return a.group_rank.value_or(kLast) <
                            b.group_rank.value_or(kLast);
                   });
  return status;
}

std::vector<NodeSeat> SeatsOf(const JobState& state) {
  std::vector<NodeSeat> seats;
  std::set<std::string> members;
  for (const World::Member& member : state.world.members) {
    const Node* const node = state.nodes.Find(member.node_id);
    members.insert(member.node_id);
    seats.push_back({.node_id = member.node_id,
                     .host = member.host,
                     .stream = node == nullptr ? 0 : node->stream,
                     .first_rank = member.first_rank,
                     .slots = member.slots});
  }
  for (const auto& [id, node] : state.nodes.nodes()) {
    if (members.count(id) > 0) continue;
    seats.push_back({.node_id = id,
                     .host = node.identity.host,
                     .stream = node.stream,
                     .slots = node.identity.slots});
  }
  return seats;
}

void Outbox::Begin() {
  step_ = JobStep();
  question_.reset();
}

void Outbox::Note(std::string kind, const std::string& node_id,
                  std::string reason, std::optional<Failure> failure) {
  step_.decisions.push_back({std::move(kind), state_.round, node_id,
                             std::move(reason), std::move(failure)});
}

void Outbox::Tell(Node& node) {
  if (question_.has_value() && question_->node_id == node.identity.node_id) {
    question_->answered = true;
  }
  if (node.stream == 0) return;
  const DirectiveKey key = KeyFor(state_, node);
  if (node.revision == 0 || key != node.told) {
    node.revision = ++revision_;
    node.told = key;
  }
  node.wording = wording_;
  node.told_handover = HandoverFor(state_, node);
  step_.deliveries.push_back({node.stream, DirectiveFor(state_, node)});
}

void Outbox::TellStream(StreamId stream, DirectiveKind kind,
                        std::string reason) {
  Directive directive;
  directive.epoch = state_.epoch;
  directive.revision = ++revision_;
  directive.kind = kind;
  directive.reason = std::move(reason);
  directive.prints_for_job = true;
  directive.stop.grace = state_.spec.shutdown_timeout;
  step_.deliveries.push_back({stream, std::move(directive)});
}

void Outbox::TellFinished(StreamId stream, const std::string& node_id,
                          const std::string& host) {
  TellStream(stream, DirectiveKind::kFinished, state_.why);
  Directive& directive = step_.deliveries.back().directive;
  directive.verdict = *state_.verdict;
  directive.took_part = TookPart(state_, node_id, host);
}

void Outbox::Refuse(StreamId stream, const Objection& objection) {
  TellStream(stream, DirectiveKind::kRefused, objection.told);
  step_.deliveries.back().directive.another_job = objection.another_job;
}

uint64_t Outbox::Renew(Node& node) {
  const uint64_t revision = ++revision_;
  node.revision = revision;
  Tell(node);
  return revision;
}

void Outbox::Await(const Node& node, uint64_t seen_revision) {
  question_ = Question{.node_id = node.identity.node_id,
                       .seen_revision = seen_revision};
}

std::optional<std::string> Outbox::Unanswered() const {
  if (!question_.has_value()) return std::nullopt;
  const Node* const node = state_.nodes.Find(question_->node_id);
  if (node == nullptr) return std::nullopt;
  const bool unseen =
      KeyFor(state_, *node) != node->told ||
      (!question_->answered && question_->seen_revision < node->revision);
  const bool reworded =
      node->told.kind == DirectiveKind::kWait && node->wording != wording_;
  const bool lacks_handover = HandoverFor(state_, *node) > node->told_handover;
  if (!unseen && !reworded && !lacks_handover) return std::nullopt;
  return question_->node_id;
}

}  // namespace muster::rendezvous
