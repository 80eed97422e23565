#include "rendezvous/job/job.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "rendezvous/job/admission.h"
#include "rendezvous/job/constituency.h"
#include "rendezvous/job/job_check.h"
#include "rendezvous/job/suspicion.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::rendezvous {
namespace {

// Maximum delay of a step (the handling of an event) after its deadline in
// normal operation. A longer delay shows that the coordinator's process was
// suspended: it was stopped, swapped out, or had no CPU time.
constexpr Duration kMaxLate = std::chrono::milliseconds(100);

// Records that the node's agent has left for good and will not vote for a
// coordinator any more.
void LeaveElectors(JobState& state, Node& node) {
  state.electors.Leave(node.identity);
  state.nodes.Update(node, [](Node& n) { n.elector_rank = -1; });
}

std::string HeldBy(const Node& holder) {
  return absl::StrCat(holder.identity.host, ", process ", holder.identity.pid);
}

}  // namespace

Job::Job(std::string run_id, uint64_t epoch, JobSpec spec, Instant now,
         std::string run_tag, std::string own_endpoint)
    : outbox_(&state_) {
  MUSTER_CHECK(spec.Validate().ok()) << spec.Validate().message();
  state_.run_id = std::move(run_id);
  state_.epoch = epoch;
  state_.spec = std::move(spec);
  state_.born = state_.now = state_.clock.since = now;
  state_.run_tag = std::move(run_tag);
  state_.own_endpoint = std::move(own_endpoint);
  state_.checks.Begin(state_.spec.network_check);
  if (!state_.own_endpoint.empty()) {
    state_.spec.last_call =
        std::max(state_.spec.last_call, TimeToLearn(state_.spec));
  }
}

Job::Job(JobState state) : state_(std::move(state)), outbox_(&state_) {}

void Job::Recall(const JobRecord& record, Duration elapsed) {
  MUSTER_CHECK(state_.round == 0 && state_.nodes.size() == 0) << "too late";
  state_.claimed_round = std::max(record.round, record.claimed_round);
  state_.restarts_used =
      std::min(record.restarts_used, state_.spec.max_restarts);
  state_.backoff = RestartBackoff(record.failures_in_row);
  state_.born = state_.now - record.age - elapsed;
  state_.nodes.Remember(record.past);
  state_.ledger = JobLedger(record.time);
  state_.reached_step = record.world.reached_step;
  // While a job's last round stops, the record has a planned verdict, with
  // which the job is to end. Keep the planned verdict of a cancel, because the
  // operator has been told of it. Drop any other planned verdict: it may still
  // change until a majority of the nodes has seen it.
  std::optional<Verdict> verdict = record.verdict;
  const std::optional<Verdict>& planned = record.stopping.consequence.verdict();
  if (record.phase == JobPhase::kStopping && planned.has_value() &&
      planned->outcome == Outcome::kCancelled) {
    verdict = planned;
    Stamp(state_, *verdict);
  }
  if (verdict.has_value() && !RunsAgain(verdict->outcome)) {
    state_.recalled = std::move(verdict);
  }
}

void Job::Inherit(Handover handover) {
  MUSTER_CHECK(state_.nodes.size() == 0) << "too late";
  state_.released_before = handover.released;
  for (const Incident& one : handover.incidents) {
    state_.ledger.Count(one.round, one.cause, one.host, one.why);
  }
  if (handover.check_is_due) Suspect(state_);
  state_.handover = std::move(handover);
  ++state_.handover.number;
}

JobStep Job::Step(Instant now, const JobEvent& event) {
  MUSTER_CHECK(now >= state_.now) << "time runs backwards";
  const std::optional<Instant> due = NextDeadline();
  const Instant last_step = state_.now;
  const uint64_t changes = state_.changes;
  state_.now = now;
  outbox_.Begin();
  state_.awaits_judgement = false;
  ForgiveSilence(last_step, due);
  std::visit(
      [this](const auto& e) {
        if constexpr (!std::is_same_v<decltype(e), const TimePassed&>) On(e);
      },
      event);
  if (outbox_.deposed()) return outbox_.Take();
  // Repeat this loop, because one event can lead the job through several
  // phases. For example, the last member stops, a new world forms, and a spare
  // is already waiting to join.
  for (bool changed = true; changed && !finished();) {
    ExpireLeases();
    const JobPhase before = phase();
    if (before == JobPhase::kGathering && outbox_.HasFaults()) {
      // This step has found faults of machines. Form no world before the
      // coordinator has recorded these faults and has sent the job its new
      // judgement of the machines (the event HostsJudged).
      state_.awaits_judgement = true;
      break;
    }
    switch (before) {
      case JobPhase::kGathering:
        ConsiderGathering();
        break;
      case JobPhase::kRunning:
        ConsiderRunning();
        break;
      case JobPhase::kStopping:
        ConsiderStopping();
        break;
      case JobPhase::kFinished:
        break;
    }
    changed = phase() != before;
  }
  if (const auto node_id = outbox_.Unanswered(); node_id.has_value()) {
    // The speaker is the node that prints for the job. Keep the same speaker
    // unless it is disconnected, so that each text is printed once.
    const Node* speaker = state_.nodes.Find(state_.speaker);
    const bool gone = speaker == nullptr || speaker->stream == 0;
    if (gone && phase() == JobPhase::kGathering) {
      state_.speaker = ChooseSpeaker(state_);
    }
    outbox_.Tell(*state_.nodes.Find(*node_id));
  }
  JobStep step = outbox_.Take();
  step.record_changed = state_.changes != changes;
  return step;
}

std::optional<Instant> Job::NextDeadline() const {
  const std::optional<Instant> phase = PhaseDeadline(state_);
  if (finished()) return phase;
  const std::optional<Instant> lease = state_.nodes.FirstDeadline();
  if (!phase.has_value() || !lease.has_value()) return phase ? phase : lease;
  return std::min(*phase, *lease);
}

bool Job::WasReleased(const NodeIdentity& agent) const {
  if (!state_.released_before.has_value()) return false;
  return std::ranges::any_of(*state_.released_before,
                             [&](const Handover::Released& one) {
                               return one.node_id == agent.node_id &&
                                      one.incarnation == agent.incarnation;
                             });
}

void Job::TellStandbys() {
  for (auto& [id, node] : state_.nodes.nodes()) {
    if (HandoverFor(state_, node) > node.told_handover) outbox_.Tell(node);
  }
}

void Job::On(const ReportArrived& event) {
  // Treat an agent that the earlier coordinator has released like one that
  // leaves at its own request: that has the same consequences for the round and
  // the electorate.
  if (!event.report.leave.has_value() && WasReleased(event.report.node)) {
    ReportArrived leaving = event;
    leaving.report.leave = "drained before this coordinator took over";
    On(leaving);
    return;
  }
  const Report& report = event.report;
  const bool is_hosted = !state_.own_endpoint.empty();
  const bool is_founding = IsFounding(state_.epoch) && state_.round == 0;
  // Whether the node may have waited for the first round before this
  // coordinator was restarted.
  const bool has_waited = is_founding && !report.knows_round() &&
                          IsFounding(report.promised_epoch + 1);
  if (report.promised_epoch > state_.epoch && (!is_hosted || has_waited)) {
    // Choose an epoch above the promised one, because nodes obey no coordinator
    // with a lower epoch than they have promised. The promised epoch may be
    // higher than this coordinator's because an earlier coordinator's clock was
    // ahead, or because the epochs of first coordinators are random.
    state_.epoch = is_hosted
                       ? FoundingEpochAbove(report.promised_epoch, state_.epoch)
                       : report.promised_epoch + 1;
  }
  // A report shows in two cases that another coordinator has taken over: the
  // node has promised a higher epoch; or the node has a place in a round
  // although this coordinator, perhaps restarted, has not begun any round.
  if (is_hosted && (report.promised_epoch > state_.epoch ||
                    (is_founding && report.place.has_value()))) {
    outbox_.Depose(absl::StrCat(report.node.host,
                                " has met another coordinator of this job"));
    return;
  }
  Node* node = Admit(event);
  if (node == nullptr) return;
  const bool reconnected = node->stream != event.stream;
  state_.nodes.SetStream(*node, event.stream);
  node->peer = event.peer;
  JudgeMachine(state_, outbox_, *node);
  TakeOver(*node, report);
  if (MayListStandbys(state_) &&
      state_.standbys.Add(*node, state_.own_endpoint)) {
    outbox_.Reword();
  }
  if (finished()) {
    outbox_.Tell(*node);
    return;
  }
  TakeFaults(state_, outbox_, *node, report);
  outbox_.Await(*node, reconnected || report.seen_epoch != state_.epoch
                           ? 0
                           : report.seen_revision);
  if (state_.round == 0) {
    // The job may have begun under an earlier coordinator. Then the age of the
    // job in the report is greater than the age by this coordinator's clock.
    state_.born = std::min(state_.born, state_.now - report.job_age);
    state_.restarts_used = RestartsUsed(state_, report);
    // If the node knows a round of the job, its report tells more than the
    // record of the earlier coordinator. So do not end the job with the
    // recorded verdict.
    if (report.knows_round()) state_.recalled.reset();
    // An elected coordinator must learn which nodes are the electors, even if
    // no node has a place in their round any more. A founder (the coordinator
    // that begins the job) is not elected by these nodes, and may begin the job
    // without them.
    const bool is_elected = is_hosted && !IsFounding(state_.epoch);
    if (report.place.has_value() || (is_elected && report.knows_round())) {
      state_.adoption.Begin(state_.now + state_.spec.lease());
    }
  }
  state_.newest_reported =
      std::max(state_.newest_reported, report.electorate.world);
  if (report.place.has_value()) {
    state_.newest_reported =
        std::max(state_.newest_reported, IdOf(*report.place));
  }
  if (state_.adoption.pending()) {
    state_.adoption.Hear(report);
    return;
  }
  JoinElectors(*node, report);
  if (state_.world.unknown > 0) JoinAdopted(*node, report);
  TakeEnd(report);
  state_.checks.Take(node->identity.node_id, report.measurement, state_.epoch);
  Apply(*node, report);
  WatchStragglers(state_, outbox_);
  if (const auto slow = StragglerToEvict(state_); slow.has_value()) {
    LeaveOut(*state_.nodes.Find(slow->node_id),
             absl::StrCat("rank ", slow->rank,
                          " is slow and a spare is ready "
                          "(--evict-stragglers)"));
  }
}

void Job::Apply(Node& node, const Report& report) {
  const auto take_leave = [&] {
    if (!report.leave.has_value()) return;
    // Count the node as an elector that has left only once its workers have
    // ended. The next world does not wait for electors that have left. If the
    // node were counted earlier, the next round could begin while the node's
    // workers still run the old one.
    if (!HasProcesses(report.phase)) LeaveElectors(state_, node);
    if (node.going || finished()) return;
    LeaveOut(node, *report.leave);
    if (state_.blame.LeaveExplains(node, state_.round)) {
      Excuse(node.identity.node_id,
             absl::StrCat(node.identity.host, " (group rank ", node.group_rank,
                          ") goes: ", node.going_why));
      state_.blame.Settle();
    }
  };
  // A report does not say in which order its events happened. So apply its
  // fields in a fixed order:
  // - Success comes first: a node that has succeeded may leave without breaking
  //   the round.
  // - Preemption and leave come before failures: a node that is preempted or
  //   leaves has also signalled its workers, and their failures are only a
  //   consequence.
  // - If there is also a cancel, the leave comes last: the cancel is its
  //   reason.
  if (report.phase == NodePhase::kSucceeded) FollowMember(node, report);
  if (report.preemption.has_value()) Preempt(node, *report.preemption);
  if (!report.cancel.has_value()) take_leave();
  TakeFailures(node, report);
  if (report.cancel.has_value()) {
    CancelFrom(node, *report.cancel);
    take_leave();
  }
  // Apply the node's phase last. A node that stops its workers by itself breaks
  // the round, if no other field of this report has already broken the round.
  FollowMember(node, report);
}

void Job::CancelFrom(Node& node, const CancelWish& wish) {
  const bool has_workers = node.part != Part::kNone;
  if (state_.preemption.has_value() && wish.signal == SIGTERM) {
    // A SIGTERM that arrives after the preemption notice ends the grace period
    // at once.
    Instant& deadline = state_.preemption->deadline;
    deadline = std::min(deadline, state_.now);
    if (phase() == JobPhase::kStopping && wish.at_once &&
        state_.stopping.Hurry(state_.now)) {
      TellMembers();
    }
  } else if (has_workers || phase() == JobPhase::kGathering) {
    Cancel(absl::StrCat(SignalName(wish.signal), " at ", node.identity.host),
           wish);
  } else if (!node.going) {
    // SIGTERM or Ctrl-C at a spare node ends only that spare.
    LeaveOut(node, SignalName(wish.signal));
  }
}

Node* Job::Admit(const ReportArrived& event) {
  const StreamId stream = event.stream;
  const Report& report = event.report;
  if (const auto why = ImpossibleRound(report, state_.round)) {
    outbox_.Note("refuse", report.node.node_id, *why);
    outbox_.TellStream(stream, DirectiveKind::kRefused, *why);
    return nullptr;
  }
  Node* holder = state_.nodes.Find(report.node.node_id);
  if (holder != nullptr &&
      holder->identity.incarnation == report.node.incarnation) {
    if (!ShowsPlaceKey(report, holder->place_key)) {
      RefuseImpostor(event);
      return nullptr;
    }
    // Drop a stale report: repeated, or overtaken by a newer one.
    if (report.sequence <= holder->sequence) return nullptr;
    return holder;
  }
  if (finished()) {
    // A node that took part in the job, or waits for a place in it, gets the
    // verdict; any other node is refused.
    if (report.round > 0 || state_.successors.contains(stream)) {
      outbox_.TellFinished(stream, report.node.node_id, report.node.host);
    } else {
      outbox_.Refuse(
          stream,
          {.told = absl::StrCat("job ", state_.run_id, " is over (", state_.why,
                                "); start a new one under another "
                                "--rdzv-id"),
           // another_job tells the refused node to try again later. After a
           // success it is false, because the node must not start the same job
           // again.
           .another_job = state_.verdict->outcome != Outcome::kSucceeded});
    }
    return nullptr;
  }
  if (report.sequence <= state_.nodes.LastSequenceOf(report.node)) {
    return nullptr;
  }
  if (!ShowsPlaceKey(report, state_.nodes.PlaceKeyOf(report.node))) {
    RefuseImpostor(event);
    return nullptr;
  }
  switch (state_.nodes.MemoryOf(report.node)) {
    case Membership::Memory::kNeverAdmitted:
    case Membership::Memory::kMayReturn:
      break;
    case Membership::Memory::kSuperseded:
      outbox_.TellStream(stream, DirectiveKind::kRefused,
                         "another agent has taken this node's place");
      return nullptr;
    case Membership::Memory::kReleased:
      outbox_.TellStream(stream, DirectiveKind::kReleased,
                         "this node was let go");
      return nullptr;
  }
  if (auto objection = Incompatible(state_.spec, report)) {
    outbox_.Note("refuse", report.node.node_id, objection->noted);
    outbox_.Refuse(stream, *objection);
    return nullptr;
  }
  if (holder == nullptr && report.node.node_rank.has_value()) {
    holder = state_.nodes.FindByNodeRank(*report.node.node_rank);
  }
  if (holder != nullptr) return Contend(*holder, event);
  state_.successors.erase(stream);
  const bool is_spare = JoinsAsSpare(state_, report);
  Node& node = state_.nodes.Add(report.node, state_.now);
  node.time = state_.nodes.TimeOf(report.node);
  if (state_.nodes.size() == 1) ++state_.changes;
  node.place_key = report.place_key;
  node.is_fresh = report.promised_epoch == 0 && !report.place.has_value();
  // This coordinator was elected, but the node has not promised to obey it. The
  // report may be older than the election, and the node may since have begun a
  // round of another coordinator. So the node's idle phase proves nothing until
  // the node has seen a directive of this coordinator.
  if (!state_.own_endpoint.empty() && !IsFounding(state_.epoch) &&
      report.promised_epoch != state_.epoch) {
    node.must_have_seen = 1;
  }
  state_.nodes.Update(node, [&](Node& n) { n.is_spare = is_spare; });
  if (state_.spec.network_check != NetworkCheckTime::kNever) {
    state_.nodes.Update(node,
                        [&](Node& n) { n.check_fault = report.check_fault; });
  }
  if (const int rank = state_.electors.RankOf(node.identity, state_.spec);
      rank >= 0) {
    state_.nodes.Update(node, [&](Node& n) { n.elector_rank = rank; });
  }
  // Do not use the NCCL id that the node offers if the node has reported to a
  // coordinator before: the id may belong to a round that the node never began.
  // The agent then makes another id.
  if (report.sequence > 1) node.spent_nccl_id = report.offered_nccl_id;
  // If the node reports a round of an earlier coordinator, keep the run tag
  // that was chosen there, so that the logs of the run stay in one folder.
  if (state_.gathering.first() && report.round > state_.claimed_round &&
      report.place.has_value() && !report.place->run_tag.empty()) {
    state_.run_tag = report.place->run_tag;
  }
  const bool was_here =
      state_.nodes.MemoryOf(report.node) == Membership::Memory::kMayReturn;
  if (was_here || state_.gathering.AwaitsAnswers(state_.now)) {
    state_.nodes.Update(
        node, [&](Node& n) { n.must_have_seen = outbox_.revision() + 1; });
  }
  // Ignore the signals that the node received before it joined or rejoined:
  // they were delivered to its workers at that time.
  for (const SignalNotice& notice : report.signals) {
    node.newest_signal = std::max(node.newest_signal, notice.ordinal);
  }
  outbox_.Reword();
  outbox_.Note("join", node.identity.node_id,
               absl::StrCat(node.identity.host, " (", node.identity.address,
                            ", ", node.identity.slots, " workers) joined"));
  return &node;
}

void Job::RefuseImpostor(const ReportArrived& event) {
  const std::string& node_id = event.report.node.node_id;
  outbox_.Note("refuse", node_id,
               absl::StrCat("a report from ",
                            event.peer.empty() ? "this process" : event.peer,
                            " does not show the key of the agent that holds "
                            "this place"));
  outbox_.TellStream(event.stream, DirectiveKind::kRefused,
                     absl::StrCat("node ", node_id,
                                  " belongs to another agent; give this node "
                                  "a --node-id of its own"));
}

void Job::FollowTime(Node& node, const Report& report) {
  state_.ledger.Tell(node.time, report.time);
  node.time = report.time;
  for (const WorkerProgress& worker : report.progress) {
    state_.reached_step =
        std::max(state_.reached_step, worker.step.value_or(-1));
  }
  if (report.place.has_value()) {
    state_.reached_step =
        std::max(state_.reached_step, report.place->reached_step);
  }
}

void Job::TakeOver(Node& node, const Report& report) {
  const uint64_t seen =
      report.seen_epoch == state_.epoch ? report.seen_revision : 0;
  if (node.contender != 0 && seen >= node.proof_of_life) {
    if (state_.successors.contains(node.contender)) {
      node.proved_alive = true;
    } else {
      outbox_.TellStream(
          node.contender, DirectiveKind::kRefused,
          absl::StrCat("node ", node.identity.node_id, " is already held by ",
                       HeldBy(node),
                       ", which is alive; give each node a --node-rank or "
                       "--node-id of its own"));
      node.contender = 0;
    }
  }
  state_.nodes.SetDeadline(node, state_.now + state_.spec.lease());
  node.forgiven = false;
  // The previous coordinator may have used the NCCL id for a round that the
  // node never began; the job's record does not say whether it did. So this
  // coordinator must not use the id.
  if (node.is_restored) node.spent_nccl_id = report.offered_nccl_id;
  const bool takes_fault =
      node.is_restored && state_.spec.network_check != NetworkCheckTime::kNever;
  node.is_restored = false;
  node.heard = state_.now;
  node.sequence = report.sequence;
  node.offered_master_port = report.offered_master_port;
  node.offered_nccl_id = report.offered_nccl_id;
  node.addresses = report.addresses;
  node.standby_endpoint = report.standby_endpoint;
  node.progress = report.progress;
  node.times = report.times;
  FollowTime(node, report);
  if (node.health != report.health || node.unhealthy != report.unhealthy) {
    if (report.health == Health::kUnhealthy &&
        node.unhealthy != report.unhealthy) {
      outbox_.Note(
          "unhealthy", node.identity.node_id,
          absl::StrCat(node.identity.host, " is kept out: ", report.unhealthy));
    } else if (node.health == Health::kUnhealthy &&
               report.health == Health::kHealthy) {
      outbox_.Note("healthy", node.identity.node_id,
                   absl::StrCat(node.identity.host, " is healthy again"));
    }
    outbox_.Reword();
  }
  // The node may report a higher round than before, even if this coordinator
  // has begun no round: the agent may have carried out an earlier coordinator's
  // last directive.
  state_.claimed_round = std::max(state_.claimed_round, report.round);
  if (node.round != report.round) node.failures_taken = 0;
  const bool was_ready = node.ready();
  state_.nodes.Update(node, [&](Node& n) {
    n.identity.address = report.node.address;
    n.identity.gpus = report.node.gpus;
    n.phase = report.phase;
    n.round = report.round;
    n.health = report.health;
    n.unhealthy = report.unhealthy;
    n.check_port = report.check_port;
    n.check_gpus = report.check_gpus;
    if (takes_fault) n.check_fault = report.check_fault;
    // `seen` never decreases: on a new stream a node may report an older
    // revision than before, in order to receive the newest directive again.
    n.seen = std::max(n.seen, seen);
  });
  if (was_ready != node.ready()) outbox_.Reword();
  for (const SignalNotice& notice : report.signals) {
    if (notice.ordinal <= node.newest_signal) continue;
    node.newest_signal = notice.ordinal;
    ++state_.changes;
    if (state_.phase != JobPhase::kRunning) continue;
    state_.signals.push_back({++state_.newest_signal, notice.signal});
    if (state_.signals.size() > kMaxSignalNotices) {
      state_.signals.erase(state_.signals.begin());
    }
    outbox_.Note("signal", node.identity.node_id,
                 absl::StrCat(SignalName(notice.signal), " at ",
                              node.identity.host, " goes to every worker"));
    TellMembers();
  }
}

void Job::JoinAdopted(Node& node, const Report& report) {
  World& world = state_.world;
  if (state_.phase != JobPhase::kRunning || node.part != Part::kNone ||
      !report.place.has_value()) {
    return;
  }
  const Place& place = *report.place;
  const int rank = place.group_rank;
  if (rank >= world.size() ||
      !IsSameWorld(place, world.PlaceOf(rank, state_.round))) {
    return;
  }
  const std::string& holder = world.members[rank].node_id;
  if (holder.empty()) {
    --world.unknown;
    ++state_.changes;
    world.SetMember(place, node.identity);
    if (state_.lost_host.has_value() && state_.lost_host->rank == rank) {
      state_.lost_host.reset();
    }
  } else if (holder != node.identity.node_id) {
    return;
  }
  ++world.unstarted;
  world.members[rank].peer = node.peer;
  state_.nodes.Update(node, [&](Node& n) {
    n.part = Part::kAssigned;
    n.group_rank = rank;
    n.failures_taken = 0;
  });
}

void Job::TakeFailures(Node& node, const Report& report) {
  // `ended`: the round that an earlier coordinator ended. If a node of that
  // round reported too late, this coordinator did not adopt the node as a
  // member. But the node may still report the failure that ended the round.
  const WorldId& ended = state_.earlier.world;
  const bool was_member = state_.blame.is_told() && report.place.has_value() &&
                          IdOf(*report.place) == ended &&
                          report.round == ended.round;
  const bool is_member =
      node.part != Part::kNone && report.round == state_.round;
  if (!was_member && !is_member) return;
  if (!report.nccl_root_lost.empty() && state_.world.nccl_root_lost.empty()) {
    state_.world.nccl_root_lost =
        absl::StrCat(report.nccl_root_lost, " on ", node.identity.host);
    outbox_.Note("nccl-id", node.identity.node_id, state_.world.nccl_root_lost);
  }
  const int told = static_cast<int>(report.failures.size());
  for (int i = node.failures_taken; i < told; ++i) {
    Failure failure = report.failures[i];
    failure.node_id = node.identity.node_id;
    failure.host = node.identity.host;
    failure.group_rank =
        was_member ? report.place->group_rank : node.group_rank;
    const auto move = state_.blame.MovesTo(failure, state_.now);
    if (move.has_value()) {
      const std::string why = ReasonOfBreak(state_, failure);
      state_.stopping.consequence.Replace(why, ExitCodeOf(failure));
      Reblame(failure.node_id, why, *move, failure);
      state_.blame.MoveTo(failure, why, state_.now);
      state_.blame.SuspectKill(node, failure, state_.now);
      continue;
    }
    // Skip a failure of the node itself (rank -1), which blames no worker; the
    // verdict's reason describes it.
    if (failure.rank >= 0) state_.blame.Add(failure);
    if (failure.kind == FailureKind::kStoppedByUs) continue;
    outbox_.Note("failure", node.identity.node_id, Describe(failure), failure);
    if (state_.phase == JobPhase::kRunning) BreakForFailure(failure);
    if (state_.lost_host.has_value()) LoseHost();
    state_.blame.SuspectKill(node, failure, state_.now);
  }
  node.failures_taken = std::max(node.failures_taken, told);
}

void Job::FollowMember(Node& node, const Report& report) {
  if (node.part == Part::kNone) return;
  const bool of_this_round = report.round == state_.round;
  const bool idle =
      report.phase == NodePhase::kIdle || report.phase == NodePhase::kSucceeded;
  if (state_.phase == JobPhase::kStopping && node.part != Part::kStopped) {
    // Whether the node has seen the stop order. If it has, it can no longer
    // start the round. So if it is idle and never started the round, it has no
    // process of the round.
    const bool knows =
        node.seen >= node.revision && node.told.kind == DirectiveKind::kStop;
    if (idle && (of_this_round || knows)) {
      if (of_this_round && report.phase == NodePhase::kSucceeded) {
        ++state_.world.succeeded;
      }
      node.part = Part::kStopped;
      --state_.world.unstopped;
      // A world of this coordinator needs all of its nodes, so it never begins.
      const bool is_later = state_.later.world.epoch == state_.epoch;
      if (!of_this_round && is_later) state_.later = {};
    }
    return;
  }
  if (state_.phase != JobPhase::kRunning || !of_this_round) return;
  if (node.part == Part::kAssigned) {
    node.part = Part::kRunning;
    --state_.world.unstarted;
  }
  if (report.phase == NodePhase::kSucceeded) {
    if (node.part == Part::kRunning) {
      ++state_.world.succeeded;
      ++state_.changes;
    }
    node.part = Part::kSucceeded;
  } else if (report.phase != NodePhase::kRunning) {
    BreakRound(absl::StrCat(node.identity.host, " (group rank ",
                            node.group_rank, ") stopped its workers by itself"),
               {.cause = StopCause::kBroken});
  }
}

void Job::On(const StreamClosed& event) {
  const auto successor = state_.successors.find(event.stream);
  if (successor != state_.successors.end()) {
    Node* const holder = state_.nodes.Find(successor->second.node_id);
    if (holder != nullptr && holder->contender == event.stream) {
      holder->contender = 0;
    }
    state_.successors.erase(successor);
  }
  Node* node = state_.nodes.FindByStream(event.stream);
  if (node == nullptr) return;
  state_.later.reached.erase(node->identity.node_id);
  if (finished()) {
    state_.nodes.SetStream(*node, 0);
    return;
  }
  if (node->told.kind == DirectiveKind::kReleased) {
    if (node->seen >= node->revision) LeaveElectors(state_, *node);
    ++state_.changes;
    state_.adoption.Forget(node->identity.node_id);
    state_.nodes.Remove(*node, Membership::Memory::kReleased);
    return;
  }
  outbox_.Reword();
  state_.nodes.SetStream(*node, 0);
  node->broken_since = state_.now;
  state_.nodes.SetDeadline(
      *node,
      std::min(node->deadline, state_.now + state_.spec.reconnect_grace));
}

void Job::On(const AgentDied& event) {
  Node* node = state_.nodes.Find(event.node_id);
  if (finished() || node == nullptr) return;
  Lose(*node, "it hosted the coordinator, which was started again",
       Membership::Memory::kMayReturn);
}

void Job::On(const CancelAsked& event) {
  if (finished()) {
    outbox_.RefuseRequest(absl::StrCat("the job is over: ", state_.why));
    return;
  }
  Cancel(event.reason, CancelWish());
}

void Job::On(const DrainAsked& event) {
  Node* node = state_.nodes.FindByName(event.node);
  if (finished()) {
    outbox_.RefuseRequest("the job is over");
    return;
  }
  if (node == nullptr) {
    outbox_.RefuseRequest(
        state_.nodes.HasHost(event.node)
            ? absl::StrCat("several nodes are on the host ", event.node,
                           "; name one by its node id (launch status)")
            : absl::StrCat("no node of the job is called ", event.node,
                           ", nor is any on a host of that name (launch "
                           "status)"));
    return;
  }
  if (node->going) return;
  int remain = 0;
  for (const auto& [id, other] : state_.nodes.nodes()) {
    remain += other.going || &other == node ? 0 : 1;
  }
  if (node->part != Part::kNone && remain < state_.spec.min_nodes) {
    outbox_.RefuseRequest(absl::StrCat("without ", event.node, " only ", remain,
                                       " nodes remain, and the job needs ",
                                       state_.spec.min_nodes));
    return;
  }
  LeaveOut(*node, absl::StrCat("drained by ", event.principal.empty()
                                                  ? "an operator"
                                                  : event.principal));
  TellStandbys();
}

void Job::On(const CoordinatorTold& event) {
  if (state_.own_endpoint.empty() || event.epoch <= state_.epoch) return;
  if (event.backing == Backing::kMajority) {
    // An elected coordinator with a majority does not step down: no other
    // coordinator can have a majority.
    const bool has_majority = HasMajority(state_) && !MayBeReplaced(state_);
    if (has_majority && !IsFounding(state_.epoch)) return;
    outbox_.Depose("a newer coordinator announces itself");
    return;
  }
  // Without a majority this coordinator steps down, even if the newer one has
  // no majority either. More than half of the electorate have promised the
  // newer one to obey no older one, so only the newer one can regain a
  // majority.
  if (finished() || MayAnnounce()) return;
  outbox_.Depose(event.backing == Backing::kMinority
                     ? "a newer coordinator without a majority asks for one"
                     : "nodes elsewhere have met a newer coordinator");
}

void Job::On(const HostsJudged& event) {
  state_.hosts = event.view;
  if (finished()) return;
  for (auto& [id, node] : state_.nodes.nodes()) {
    JudgeMachine(state_, outbox_, node);
  }
  if (event.machines == nullptr) return;
  state_.handover.machines = *event.machines;
  ++state_.handover.number;
  TellStandbys();
}

std::optional<Directive> Job::DirectiveOn(StreamId stream) const {
  const Node* const node = state_.nodes.FindByStream(stream);
  if (node == nullptr || node->revision == 0) return std::nullopt;
  return DirectiveFor(state_, *node);
}

bool Job::MayAsk() const {
  return !state_.own_endpoint.empty() && !finished() && !MayAnnounce() &&
         (state_.electors.nodes > 0 || IsFounding(state_.epoch));
}

bool Job::MayAnnounce() const {
  const bool is_elected =
      !state_.own_endpoint.empty() && !IsFounding(state_.epoch);
  const bool before_any_world =
      state_.electors.nodes == 0 || state_.electors.is_forming;
  return !finished() &&
         (HasMajority(state_) || (is_elected && before_any_world));
}

bool Job::AwaitsNodes() const {
  const auto stay = std::ranges::count_if(
      state_.nodes.nodes(),
      [](const auto& node) { return !node.second.going; });
  return state_.phase == JobPhase::kGathering && stay < state_.spec.min_nodes;
}

void Job::LeaveOut(Node& node, const std::string& why) {
  ++state_.changes;
  state_.handover.Release({.node_id = node.identity.node_id,
                           .incarnation = node.identity.incarnation});
  node.going_why = why;
  state_.nodes.Update(node, [](Node& n) { n.going = true; });
  if (state_.round == 0) state_.standbys.Remove(node);
  outbox_.Reword();
  outbox_.Note("leave", node.identity.node_id,
               absl::StrCat(node.identity.host, " goes: ", node.going_why));
  state_.world.RememberDeparture(node.identity.node_id, node.group_rank,
                                 absl::StrCat("left: ", node.going_why));
  if (state_.phase == JobPhase::kRunning && node.part == Part::kSucceeded) {
    // End the node's membership in the round without a break of the round: the
    // node's workers have succeeded, so the other members need not be stopped.
    state_.nodes.Update(node, [](Node& n) { n.part = Part::kNone; });
    outbox_.Tell(node);
  } else if (state_.phase == JobPhase::kRunning && node.part != Part::kNone) {
    // If the leaving node is in phase kIdle, it has no processes left: its
    // guardian process (the parent of its workers) has died. The stop cause is
    // then kBroken, because the other nodes' workers can no longer communicate
    // with its workers, for example to agree on a last checkpoint.
    BreakRound(absl::StrCat(node.identity.host, " (group rank ",
                            node.group_rank, ") goes: ", why),
               {.cause = node.phase == NodePhase::kIdle ? StopCause::kBroken
                                                        : StopCause::kAsked});
  } else {
    outbox_.Tell(node);
  }
}

void Job::Lose(Node& node, const std::string& why, Membership::Memory memory) {
  const Node lost = node;
  ++state_.changes;
  state_.adoption.Forget(lost.identity.node_id);
  state_.later.reached.erase(lost.identity.node_id);
  if (NetworkCheck* const check = state_.checks.current(); check != nullptr) {
    check->Lose(lost.identity.node_id);
  }
  outbox_.Reword();
  state_.nodes.Remove(node,
                      node.going && memory == Membership::Memory::kMayReturn
                          ? Membership::Memory::kReleased
                          : memory);
  if (state_.round == 0) state_.standbys.Remove(lost);
  outbox_.Note("lost", lost.identity.node_id,
               absl::StrCat(lost.identity.host, " is lost: ", why));
  state_.world.RememberDeparture(lost.identity.node_id, lost.group_rank,
                                 absl::StrCat("lost: ", why));
  if (lost.contender != 0) {
    state_.successors.erase(lost.contender);
    outbox_.TellStream(lost.contender, DirectiveKind::kWait, "joining");
  }
  if (lost.part == Part::kNone || lost.part == Part::kSucceeded) return;
  ++state_.world.lost;
  Failure failure;
  failure.kind = FailureKind::kNodeLost;
  failure.node_id = lost.identity.node_id;
  failure.host = lost.identity.host;
  failure.group_rank = lost.group_rank;
  failure.pid = lost.identity.pid;
  failure.message = why;
  const std::string text = absl::StrCat(lost.identity.host, " (group rank ",
                                        lost.group_rank, ") was lost: ", why);
  if (state_.phase == JobPhase::kStopping) {
    if (lost.part != Part::kStopped) --state_.world.unstopped;
    if (state_.blame.LossExplains(lost, state_.now)) {
      // The cause of the round's break is now the loss of a node. This is a
      // change of membership, which spends no restart, so Excuse gives back the
      // restart that the worker's failure has spent.
      state_.blame.MoveToLoss(failure);
      Excuse(failure.node_id, text);
    }
    return;
  }
  if (lost.part == Part::kAssigned) --state_.world.unstarted;
  state_.blame.Add(failure);
  BreakRound(text, {.cause = StopCause::kBroken});
}

bool Job::OwesVerdict() const {
  return std::any_of(state_.nodes.nodes().begin(), state_.nodes.nodes().end(),
                     [this](const auto& entry) {
                       return finished() && entry.second.told.kind !=
                                                DirectiveKind::kFinished;
                     });
}

Node* Job::Contend(Node& holder, const ReportArrived& event) {
  const StreamId stream = event.stream;
  const Report& report = event.report;
  if (holder.stream == 0 && holder.peer == event.peer) {
    // The agent that holds the place is disconnected, and its successor reports
    // from the same address. So there is no need to wait for the old agent. An
    // agent at another address has to wait, because it may be a stranger that
    // uses this node's name.
    Lose(holder, "its agent was started anew", Membership::Memory::kSuperseded);
    return Admit(event);
  }
  if (holder.contender == 0) {
    holder.proved_alive = false;
    holder.proof_of_life = outbox_.Renew(holder);
  }
  if (holder.contender_incarnation != report.node.incarnation) {
    holder.contender_incarnation = report.node.incarnation;
    holder.contended_since = state_.now;
  }
  if (holder.contender != stream) state_.successors.erase(holder.contender);
  holder.contender = stream;
  state_.nodes.Hear(report.node, report.sequence);
  const bool waits =
      report.waits_for_place &&
      state_.now < holder.contended_since + state_.spec.join_timeout;
  if (waits) {
    const bool is_new =
        state_.successors
            .insert_or_assign(
                stream, Successor{holder.identity.node_id, report.node.host})
            .second;
    if (is_new) {
      outbox_.Note("successor", holder.identity.node_id,
                   absl::StrCat(report.node.host, ", process ", report.node.pid,
                                ", waits for the end of ", HeldBy(holder)));
    }
  } else {
    state_.successors.erase(stream);
  }
  outbox_.TellStream(
      stream, DirectiveKind::kWait,
      absl::StrCat("node ", holder.identity.node_id, " is held by ",
                   HeldBy(holder),
                   waits && holder.proved_alive
                       ? ", which is alive; this node takes its place when "
                         "that has ended"
                       : "; waiting for a sign of life from it"));
  return nullptr;
}

// Extends the leases after the coordinator's process was suspended: messages of
// the nodes may still be unread, or the nodes were suspended as well. Every
// lease begins anew, and the phase's limit is postponed by a lease.
//
// A lease is extended only once until the node reports again. A phase's limit
// is extended only once. Otherwise a dead node would never be declared lost on
// a machine so busy that every step is late.
//
// If the last step was more than a lease ago, nodes may have gone to another
// coordinator, and their unread reports are outdated. So a node gets a place
// only once it has answered a directive that is sent now. No world forms before
// the nodes have answered or their leases have ended.
void Job::ForgiveSilence(Instant last_step, std::optional<Instant> due) {
  if (!due.has_value() || state_.now <= *due + kMaxLate) return;
  for (auto& [id, node] : state_.nodes.nodes()) {
    if (node.forgiven) continue;
    node.forgiven = true;
    const bool broken = node.stream == 0 && !node.is_restored;
    state_.nodes.SetDeadline(
        node, state_.now + (broken ? std::min(state_.spec.reconnect_grace,
                                              state_.spec.lease())
                                   : state_.spec.lease()));
  }
  state_.adoption.ForgiveStandstill(state_.now, state_.spec.lease());
  if (NetworkCheck* const check = state_.checks.current(); check != nullptr) {
    check->ForgiveStandstill(state_.now);
  }
  state_.blame.ForgiveStandstill(*due, state_.now);
  state_.clock.Postpone(state_.now, PhaseLimit(state_), state_.spec.lease());
  if (finished() || state_.now <= last_step + state_.spec.lease()) return;
  state_.gathering.AwaitAnswers(state_.now, state_.now + state_.spec.lease());
  const uint64_t first_revision = outbox_.revision() + 1;
  for (auto& [id, node] : state_.nodes.nodes()) {
    if (node.going) continue;
    state_.nodes.Update(node,
                        [&](Node& n) { n.must_have_seen = first_revision; });
  }
  for (auto& [id, node] : state_.nodes.nodes()) {
    if (!node.going) outbox_.Renew(node);
  }
}

void Job::ExpireLeases() {
  if (finished()) return;
  for (Node* node = state_.nodes.FirstToExpire();
       node != nullptr && node->deadline <= state_.now;
       node = state_.nodes.FirstToExpire()) {
    // If another coordinator may have been elected, this one must not break the
    // round that goes on there. So wait until the other one has announced
    // itself.
    const Instant announced =
        std::min(node->broken_since + TimeToLearn(state_.spec),
                 node->heard + state_.spec.lease());
    const bool is_broken = node->stream == 0 && !node->is_restored;
    if (is_broken && state_.now < announced && MayBeReplaced(state_)) {
      state_.nodes.SetDeadline(*node, announced);
      continue;
    }
    const double silent = ToSeconds(state_.now - node->heard);
    const std::string why =
        node->is_restored
            ? absl::StrCat(
                  "it did not come to the new coordinator within its "
                  "lease of ",
                  ToSeconds(state_.spec.lease()), " s")
        : is_broken
            ? absl::StrCat(
                  "its connection broke and it did not come back "
                  "within ",
                  ToSeconds(state_.now < announced
                                ? state_.spec.reconnect_grace
                                : announced - node->broken_since),
                  " s")
            : absl::StrCat("its agent has been silent for ", silent,
                           " s (lease ", ToSeconds(state_.spec.lease()), " s)");
    Lose(*node, why, Membership::Memory::kMayReturn);
  }
}

}  // namespace muster::rendezvous
