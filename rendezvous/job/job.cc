#include "rendezvous/job/job.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "rendezvous/job/admission.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::rendezvous {

Job::Job(std::string run_id, uint64_t epoch, JobSpec spec, Instant now,
         std::string run_tag)
    : run_id_(std::move(run_id)),
      epoch_(epoch),
      spec_(spec),
      born_(now),
      now_(now),
      phase_since_(now),
      run_tag_(std::move(run_tag)) {
  MUSTER_CHECK(spec.Validate().ok()) << spec.Validate().message();
}

JobStep Job::Step(Instant now, const JobEvent& event) {
  MUSTER_CHECK(now >= now_) << "time runs backwards";
  const std::optional<Instant> due = NextDeadline();
  now_ = now;
  step_ = JobStep();
  ForgiveSilence(due);
  question_.reset();
  std::visit([this](const auto& e) { On(e); }, event);
  ExpireLeases();
  Reconsider();
  Answer();
  return std::move(step_);
}

void Job::On(const ReportArrived& event) {
  const Report& report = event.report;
  Node* node = Admit(event.stream, report);
  if (node == nullptr) return;
  const bool reconnected = node->stream != event.stream;
  nodes_.SetStream(*node, event.stream);
  TakeOver(*node, report);
  if (finished()) {
    Tell(*node);
    return;
  }
  question_ = Question{
      .node_id = node->identity.node_id,
      .seen_revision =
          reconnected || report.seen_epoch != epoch_ ? 0 : report.seen_revision,
  };
  // A report's fields have no order of their own. Apply success first, because
  // a node that has succeeded may leave without a break. Apply preemption
  // before leave and failures: a node that leaves or is preempted has also
  // signalled its workers, and their failures are a consequence. But with a
  // cancel in the same report, the cancel comes first, since it is the reason
  // to leave.
  if (report.phase == NodePhase::kSucceeded) FollowMember(*node, report);
  if (report.preemption.has_value()) Preempt(*node, *report.preemption);
  if (!report.cancel.has_value()) TakeLeave(*node, report);
  TakeFailures(*node, report);
  if (report.cancel.has_value()) {
    CancelFrom(*node, *report.cancel);
    TakeLeave(*node, report);
  }
  // The phase comes last, so that a node that stops its workers is already
  // known to have been asked to.
  FollowMember(*node, report);
}

// A report is answered if its stream is new, if the node has not seen the
// newest directive, or if the node waits by an old wording. The answer is sent
// at the end of the step, so that the last node to join is not told to wait
// first. All other directives are sent when they change.
void Job::Answer() {
  if (!question_.has_value()) return;
  Node* node = nodes_.Find(question_->node_id);
  if (node == nullptr) return;
  const bool unseen =
      KeyFor(*node) != node->told ||
      (!question_->answered && (question_->seen_revision < node->revision));
  const bool reworded =
      node->told.kind == DirectiveKind::kWait && node->wording != wording_;
  if (!unseen && !reworded) return;
  if (phase_ == JobPhase::kGathering) KeepSpeaker();
  Tell(*node);
}

Node* Job::Admit(StreamId stream, const Report& report) {
  Node* holder = nodes_.Find(report.node.node_id);
  if (holder != nullptr &&
      holder->identity.incarnation == report.node.incarnation) {
    // Stale: repeated, or overtaken by a newer report.
    if (report.sequence <= holder->sequence) return nullptr;
    return holder;
  }
  if (finished()) {
    // A node that had a part in the job, or waits for one, gets the verdict;
    // any other node is refused.
    if (report.round > 0 || successors_.contains(stream)) {
      TellStream(stream, DirectiveKind::kFinished, why_);
    } else {
      Refuse(stream, {.told = absl::StrCat("job ", run_id_, " is over (", why_,
                                           "); start a new one under another "
                                           "--rdzv-id"),
                      // The nodes of a job that succeeded do not start the job
                      // again.
                      .another_job = verdict_->outcome != Outcome::kSucceeded});
    }
    return nullptr;
  }
  if (report.sequence <= nodes_.LastSequenceOf(report.node)) return nullptr;
  switch (nodes_.MemoryOf(report.node)) {
    case Membership::Memory::kNeverAdmitted:
    case Membership::Memory::kMayReturn:
      break;
    case Membership::Memory::kSuperseded:
      TellStream(stream, DirectiveKind::kRefused,
                 "another agent has taken this node's place");
      return nullptr;
    case Membership::Memory::kReleased:
      TellStream(stream, DirectiveKind::kReleased, "this node was let go");
      return nullptr;
  }
  if (auto unhealthy = Unhealthy(spec_, report)) {
    Note("refuse", report.node.node_id, unhealthy->noted);
    Refuse(stream, *unhealthy);
    return nullptr;
  }
  if (holder == nullptr && report.node.node_rank.has_value()) {
    holder = nodes_.FindByNodeRank(*report.node.node_rank);
  }
  if (holder != nullptr) return Contend(*holder, stream, report);
  successors_.erase(stream);
  Node& node = nodes_.Add(report.node, now_);
  // The node has talked to a coordinator before, so the NCCL id that it offers
  // may have been given to a round that the node never began. The agent makes
  // another id if this one is not used.
  if (report.sequence > 1) node.spent_nccl_id = report.offered_nccl_id;
  // An earlier coordinator's: the run goes on, and its logs stay in one folder.
  if (first_gathering_ && report.round > claimed_round_ &&
      !report.run_tag.empty()) {
    run_tag_ = report.run_tag;
  }
  claimed_round_ = std::max(claimed_round_, report.round);
  const bool was_here =
      nodes_.MemoryOf(report.node) == Membership::Memory::kMayReturn;
  if (was_here) {
    nodes_.Update(node, [&](Node& n) { n.must_have_seen = revision_ + 1; });
  }
  // Signals that the node caught before it joined (again) were already
  // delivered to the workers of that time.
  for (const SignalNotice& notice : report.signals) {
    node.newest_signal = std::max(node.newest_signal, notice.ordinal);
  }
  ++wording_;
  Note("join", node.identity.node_id,
       absl::StrCat(node.identity.host, " (", node.identity.address, ", ",
                    node.identity.slots, " workers) joined"));
  return &node;
}

void Job::TakeOver(Node& node, const Report& report) {
  const uint64_t seen = report.seen_epoch == epoch_ ? report.seen_revision : 0;
  if (node.contender != 0 && seen >= node.proof_of_life) {
    AnswerContender(node);
  }
  nodes_.SetDeadline(node, now_ + spec_.lease());
  node.forgiven = false;
  node.heard = now_;
  node.sequence = report.sequence;
  node.offered_master_port = report.offered_master_port;
  node.offered_nccl_id = report.offered_nccl_id;
  node.progress = report.progress;
  if (node.health != report.health || node.unhealthy != report.unhealthy) {
    if (report.health == Health::kUnhealthy &&
        node.unhealthy != report.unhealthy) {
      Note(
          "unhealthy", node.identity.node_id,
          absl::StrCat(node.identity.host, " is kept out: ", report.unhealthy));
    } else if (node.health == Health::kUnhealthy &&
               report.health == Health::kHealthy) {
      Note("healthy", node.identity.node_id,
           absl::StrCat(node.identity.host, " is healthy again"));
    }
    ++wording_;
  }
  if (node.round != report.round) node.failures_taken = 0;
  const bool was_ready = node.ready();
  nodes_.Update(node, [&](Node& n) {
    n.identity.address = report.node.address;
    n.phase = report.phase;
    n.round = report.round;
    n.health = report.health;
    n.unhealthy = report.unhealthy;
    // On a new stream a node may report an older revision in order to get the
    // newest directive again.
    n.seen = std::max(n.seen, seen);
  });
  if (was_ready != node.ready()) ++wording_;
  for (const SignalNotice& notice : report.signals) {
    if (notice.ordinal <= node.newest_signal) continue;
    node.newest_signal = notice.ordinal;
    if (phase_ != JobPhase::kRunning) continue;
    signals_.push_back({++newest_signal_, notice.signal});
    if (signals_.size() > kMaxSignalNotices) signals_.erase(signals_.begin());
    Note("signal", node.identity.node_id,
         absl::StrCat(SignalName(notice.signal), " at ", node.identity.host,
                      " goes to every worker"));
    for (const World::Member& member : world_.members) {
      Node* other = nodes_.Find(member.node_id);
      if (other != nullptr && other->part != Part::kNone) Tell(*other);
    }
  }
}

void Job::TakeFailures(Node& node, const Report& report) {
  if (node.part == Part::kNone || report.round != round_) return;
  if (!report.nccl_root_lost.empty() && world_.nccl_root_lost.empty()) {
    world_.nccl_root_lost =
        absl::StrCat(report.nccl_root_lost, " on ", node.identity.host);
    Note("nccl-id", node.identity.node_id, world_.nccl_root_lost);
  }
  const int told = static_cast<int>(report.failures.size());
  for (int i = node.failures_taken; i < told; ++i) {
    Failure failure = report.failures[i];
    failure.node_id = node.identity.node_id;
    failure.host = node.identity.host;
    failure.group_rank = node.group_rank;
    if (BlameLikelierHang(failure) || BlameRaisedFirst(failure)) continue;
    // The verdict's reason says all of a round that a node cannot serve: no
    // worker is to blame.
    if (failure.rank >= 0) failures_.Add(failure);
    if (failure.kind == FailureKind::kStoppedByUs) continue;
    Note("failure", node.identity.node_id, Named(failure));
    if (phase_ == JobPhase::kRunning) BreakForFailure(failure);
    if (HasNotSeenBreak(node)) SuspectKill(failure);
  }
  node.failures_taken = std::max(node.failures_taken, told);
}

void Job::TakeLeave(Node& node, const Report& report) {
  if (!report.leave.has_value() || node.going || finished()) return;
  node.going_why = *report.leave;
  LeaveOut(node);
  BlameLeaving(node);
}

void Job::FollowMember(Node& node, const Report& report) {
  if (node.part == Part::kNone) return;
  const bool of_this_round = report.round == round_;
  const bool idle =
      report.phase == NodePhase::kIdle || report.phase == NodePhase::kSucceeded;
  if (phase_ == JobPhase::kStopping && node.part != Part::kStopped) {
    // A node that has seen the order to stop can no longer start the round. So
    // if it never received the round's start and is idle, it has nothing left
    // of the round.
    const bool knows =
        node.seen >= node.revision && node.told.kind == DirectiveKind::kStop;
    if (idle && (of_this_round || knows)) {
      if (of_this_round && report.phase == NodePhase::kSucceeded) {
        ++world_.succeeded;
      }
      node.part = Part::kStopped;
      --world_.unstopped;
    }
    return;
  }
  if (phase_ != JobPhase::kRunning || !of_this_round) return;
  if (node.part == Part::kAssigned) {
    node.part = Part::kRunning;
    --world_.unstarted;
  }
  if (report.phase == NodePhase::kSucceeded) {
    if (node.part == Part::kRunning) ++world_.succeeded;
    node.part = Part::kSucceeded;
  } else if (report.phase != NodePhase::kRunning) {
    BreakForMembership(
        absl::StrCat(node.identity.host, " (group rank ", node.group_rank,
                     ") stopped its workers by itself"),
        StopCause::kBroken);
  }
}

void Job::On(const StreamClosed& event) {
  LoseContender(event.stream);
  Node* node = nodes_.FindByStream(event.stream);
  if (node == nullptr) return;
  if (finished()) {
    nodes_.SetStream(*node, 0);
    return;
  }
  if (node->told.kind == DirectiveKind::kReleased) {
    nodes_.Remove(*node, Membership::Memory::kReleased);
    return;
  }
  ++wording_;
  nodes_.SetStream(*node, 0);
  node->broken_since = now_;
  nodes_.SetDeadline(*node,
                     std::min(node->deadline, now_ + spec_.reconnect_grace));
}

void Job::On(const CancelAsked& event) {
  if (finished()) {
    step_.refusal = absl::StrCat("the job is over: ", why_);
    return;
  }
  Cancel(event.reason, CancelWish());
}

void Job::CancelFrom(Node& node, const CancelWish& wish) {
  const bool has_workers = node.part != Part::kNone;
  if (preemption_.has_value() && wish.signal == SIGTERM) {
    EndGrace(wish);
  } else if (has_workers || phase_ == JobPhase::kGathering) {
    Cancel(absl::StrCat(SignalName(wish.signal), " at ", node.identity.host),
           wish);
  } else if (!node.going) {
    // SIGTERM or Ctrl-C at a spare ends only that spare.
    node.going_why = SignalName(wish.signal);
    LeaveOut(node);
  }
}

void Job::On(const DrainAsked& event) {
  Node* node = nodes_.FindByName(event.node);
  if (finished()) {
    step_.refusal = "the job is over";
    return;
  }
  if (node == nullptr) {
    step_.refusal =
        nodes_.HasHost(event.node)
            ? absl::StrCat("several nodes are on the host ", event.node,
                           "; name one by its node id (launch status)")
            : absl::StrCat("no node of the job is called ", event.node,
                           ", nor is any on a host of that name (launch "
                           "status)");
    return;
  }
  if (node->going) return;
  int remain = 0;
  for (const auto& [id, other] : nodes_.nodes()) {
    remain += other.going || &other == node ? 0 : 1;
  }
  if (node->part != Part::kNone && remain < spec_.min_nodes) {
    step_.refusal =
        absl::StrCat("without ", event.node, " only ", remain,
                     " nodes remain, and the job needs ", spec_.min_nodes);
    return;
  }
  node->going_why = "drained by an operator";
  LeaveOut(*node);
}

void Job::LeaveOut(Node& node) {
  nodes_.Update(node, [](Node& n) { n.going = true; });
  ++wording_;
  Note("leave", node.identity.node_id,
       absl::StrCat(node.identity.host, " goes: ", node.going_why));
  RememberDeparture(node, absl::StrCat("left: ", node.going_why));
  if (phase_ == JobPhase::kRunning && node.part == Part::kSucceeded) {
    // The node's part of the round is done, so the others need not stop.
    nodes_.Update(node, [](Node& n) { n.part = Part::kNone; });
    Tell(node);
  } else if (phase_ == JobPhase::kRunning && node.part != Part::kNone) {
    BreakForMembership(
        absl::StrCat(node.identity.host, " (group rank ", node.group_rank,
                     ") goes: ", node.going_why),
        StopCause::kAsked);
  } else {
    Tell(node);
  }
}

void Job::Lose(Node& node, const std::string& why, Membership::Memory memory) {
  const Node lost = node;
  ++wording_;
  nodes_.Remove(node, node.going && memory == Membership::Memory::kMayReturn
                          ? Membership::Memory::kReleased
                          : memory);
  Note("lost", lost.identity.node_id,
       absl::StrCat(lost.identity.host, " is lost: ", why));
  RememberDeparture(lost, absl::StrCat("lost: ", why));
  if (lost.contender != 0) {
    successors_.erase(lost.contender);
    TellStream(lost.contender, DirectiveKind::kWait, "joining");
  }
  if (lost.part == Part::kNone || lost.part == Part::kSucceeded) return;
  Failure failure;
  failure.kind = FailureKind::kNodeLost;
  failure.node_id = lost.identity.node_id;
  failure.host = lost.identity.host;
  failure.group_rank = lost.group_rank;
  failure.pid = lost.identity.pid;
  failure.message = why;
  if (phase_ == JobPhase::kStopping) {
    if (lost.part != Part::kStopped) --world_.unstopped;
    if (ExplainsBreak(lost)) BlameLoss(failure);
    return;
  }
  if (lost.part == Part::kAssigned) --world_.unstarted;
  failures_.Add(failure);
  BreakForMembership(absl::StrCat(lost.identity.host, " (group rank ",
                                  lost.group_rank, ") was lost: ", why),
                     StopCause::kBroken);
}

void Job::RememberDeparture(const Node& node, const std::string& how) {
  if (node.group_rank < 0 || node.group_rank >= world_.size()) return;
  World::Member& member = world_.members[node.group_rank];
  if (member.node_id != node.identity.node_id) return;
  if (member.departure.empty()) member.departure = how;
}

bool Job::OwesVerdict() const {
  return std::any_of(
      nodes_.nodes().begin(), nodes_.nodes().end(), [this](const auto& entry) {
        return finished() && entry.second.told.kind != DirectiveKind::kFinished;
      });
}

void Job::Note(std::string kind, const std::string& node_id,
               std::string reason) {
  step_.decisions.push_back(
      {std::move(kind), round_, node_id, std::move(reason)});
}

std::optional<Instant> Job::NextDeadline() const {
  std::optional<Instant> deadline = PhaseDeadline();
  if (finished()) return deadline;
  std::optional<Instant> lease = nodes_.FirstDeadline();
  if (lease.has_value() && (!deadline.has_value() || *lease < *deadline)) {
    deadline = lease;
  }
  return deadline;
}

JobStatus Job::Status(Instant now) const {
  JobStatus status;
  status.run_id = run_id_;
  status.spec = spec_;
  status.spec.command.clear();  // it may hold secrets
  status.phase = phase_;
  status.reason = phase_ == JobPhase::kGathering ? WaitReason(nullptr) : why_;
  if (!finished()) absl::StrAppend(&status.reason, SuccessorsText());
  status.round = round_;
  status.restarts_used = restarts_used_;
  if (phase_ == JobPhase::kRunning || phase_ == JobPhase::kStopping) {
    status.world_size = world_.world_size;
    status.master_address = world_.master_address;
    status.master_port = world_.master_port;
  }
  if (preemption_.has_value()) {
    status.preemption = preemption_->notice;
    status.preemption->left =
        std::max(preemption_->deadline - now, Duration::zero());
  }
  status.age = now - born_;
  status.phase_age = now - phase_since_;
  for (const auto& [id, node] : nodes_.nodes()) {
    NodeStatus one;
    one.node = node.identity;
    one.phase = node.phase;
    one.round = node.round;
    if (node.part != Part::kNone) one.group_rank = node.group_rank;
    one.connected = node.stream != 0;
    one.draining = node.going;
    one.silent_for = now - node.heard;
    one.health = node.health;
    one.unhealthy = node.unhealthy;
    if (node.part != Part::kNone && node.round == round_) {
      one.progress = node.progress;
      for (WorkerProgress& worker : one.progress) {
        worker.silent_for += one.silent_for;
      }
    }
    status.nodes.push_back(std::move(one));
  }
  std::stable_sort(status.nodes.begin(), status.nodes.end(),
                   [](const NodeStatus& a, const NodeStatus& b) {
                     constexpr int kLast = 1 << 30;
                     return a.group_rank.value_or(kLast) <
                            b.group_rank.value_or(kLast);
                   });
  status.verdict = verdict_;
  return status;
}

}  // namespace muster::rendezvous
