// Blame for a broken round: the first failure, unless the loss of a node or a
// more likely hang explains it. That may turn out only while the round stops.

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rendezvous/job/communication_error.h"
#include "rendezvous/job/job.h"

namespace muster::rendezvous {
namespace {

// The time, by this coordinator's clock, of the last sign of life of the worker
// that hangs. The message's latency makes it slightly too late.
Instant SilentSince(const Failure& hang, Instant now) {
  return now - std::max(hang.silent_for, Duration::zero());
}

// Whether its node's kernel keeps the worker stopped: then its peers wait for
// this worker, and not vice versa.
bool IsStopped(const Failure& hang) { return hang.signal == SIGSTOP; }

// Two workers fell silent together if the times differ by less than
// 1/kTogetherDivisor of the silence.
constexpr int kTogetherDivisor = 10;

// Whether `cause` may follow from an exception that a worker raised before.
// A failed exit is explained by an earlier exception on the same node. Clocks
// of two nodes cannot be compared, so on another node the exception explains
// only a broken connection. SIGABRT is how PyTorch's watchdog ends a worker.
bool MayFollow(const Failure& cause, const std::string& raised_on) {
  const bool same_node = cause.node_id == raised_on;
  if (cause.kind == FailureKind::kSignal) {
    return same_node && cause.signal == SIGABRT;
  }
  return cause.kind == FailureKind::kExitCode &&
         (same_node || IsCommunicationError(cause.message));
}

}  // namespace

// A failure without a rank is a node's, and its message names the host.
std::string Job::Named(const Failure& failure) {
  if (failure.rank < 0) return failure.message;
  return absl::StrCat("rank ", failure.rank, " on ", failure.host, ": ",
                      failure.message);
}

// The reason of a break. If the root of the round's NCCL id was lost, a worker
// that waited for that root fails with a message that does not mention the
// loss, so the text adds it.
std::string Job::WhyOf(const Failure& failure) const {
  return absl::StrCat(Named(failure),
                      world_.nccl_root_lost.empty() ? "" : "; before that, ",
                      world_.nccl_root_lost, DoubtAbout(failure));
}

// Returns a warning that the blamed hang may not be the cause, or "". Workers
// of several nodes that wait for one another fall silent at about the same
// time, in an order that proves nothing.
std::string Job::DoubtAbout(const Failure& failure) const {
  if (failure.kind != FailureKind::kHung || IsStopped(failure)) return "";
  const Instant since = SilentSince(failure, now_);
  const Duration window = (now_ - since) / kTogetherDivisor;
  int together = 0;
  for (const auto& [id, node] : nodes_.nodes()) {
    if (id == failure.node_id || node.part == Part::kNone ||
        node.round != round_) {
      continue;
    }
    for (const WorkerProgress& worker : node.progress) {
      // A deadline of 0: the worker has ended, or may be silent for ever.
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

void Job::BreakForFailure(const Failure& failure) {
  Break reason;
  reason.why = WhyOf(failure);
  reason.failed_on = failure.node_id;
  if (preemption_.has_value()) {
    // The others would wait for the failed worker in vain, so the round breaks.
    // No restart is spent: the job ends with the preemption's verdict, which
    // names this failure.
    reason.by_failure = true;
    BreakRound(std::move(reason));
    return;
  }
  if (failure.kind == FailureKind::kStartFailed) {
    // A program that cannot be started now cannot be started later either: no
    // restart is spent on it.
    reason.verdict =
        NewVerdict(Outcome::kFailed, ExitCodeOf(failure), reason.why);
    BreakRound(std::move(reason));
    return;
  }
  reason.by_failure = true;
  if (failure.kind == FailureKind::kHung) {
    reason.silent_since = SilentSince(failure, now_);
    reason.stopped = IsStopped(failure);
  }
  if (restarts_used_ >= spec_.max_restarts) {
    reason.verdict =
        NewVerdict(Outcome::kFailed, ExitCodeOf(failure), reason.why);
  } else {
    ++restarts_used_;
    reason.restarts_spent = 1;
  }
  BreakRound(std::move(reason));
}

// Whether the loss of `lost` is the cause of a break that a failure began. If a
// node dies, its peers' workers fail on their broken connections, perhaps
// before the loss is known: the first failure is then a victim's. The order in
// which the failure and the end of the node's stream are read proves nothing,
// but a node that has answered the order to stop outlived the failure. So did
// the node that reported the failure, unless its worker was killed a moment
// before its agent was.
bool Job::ExplainsBreak(const Node& lost) const {
  // If the node is still connected and sends reports, it was declared lost only
  // because it did not stop in time, which explains no failure.
  const bool gone =
      lost.stream == 0 || lost.deadline <= now_ || lost.heard <= phase_since_;
  if (!gone) return false;
  const std::string& id = lost.identity.node_id;
  if (id == break_.killed_on && lost.stream == 0 &&
      lost.broken_since <= break_.outlived) {
    return true;
  }
  return id != break_.failed_on && lost.part != Part::kStopped &&
         HasNotSeenBreak(lost);
}

// Whether the node's reports may be older than the failure that broke the
// round.
bool Job::HasNotSeenBreak(const Node& node) const {
  return node.seen <= break_.revision;
}

// Remembers a SIGKILL, whether it broke the round itself or was read after
// another failure.
void Job::SuspectKill(const Failure& failure) {
  if (phase_ != JobPhase::kStopping || !break_.by_failure ||
      !break_.killed_on.empty() || failure.kind != FailureKind::kSignal ||
      failure.signal != SIGKILL) {
    return;
  }
  break_.killed_on = failure.node_id;
  break_.outlived = now_ + kKillSpread;
}

// Whether the verdict must wait: a SIGKILL may be the cause of the break, and
// the agent of the killed worker has not yet outlived it for kKillSpread.
bool Job::StillProvingLife() const {
  if (!break_.by_failure || break_.killed_on.empty()) return false;
  const auto found = nodes_.nodes().find(break_.killed_on);
  if (found == nodes_.nodes().end()) return false;
  return found->second.stream == 0 || now_ < break_.outlived;
}

// Makes the loss of a node that explains the break the cause after all. A loss,
// as a change of membership, spends no restart.
void Job::BlameLoss(const Failure& loss) {
  if (!break_.by_failure) return;
  failures_.Blame(loss);
  Excuse(loss.node_id, absl::StrCat(loss.host, " (group rank ", loss.group_rank,
                                    ") was lost: ", loss.message));
  break_.by_failure = false;
}

// Makes the leaving of a node the cause if the node had not seen the order to
// stop: its guardian died, or the sender of its SIGTERM has ended its workers
// first. A node whose workers had succeeded is not the cause.
void Job::BlameLeaving(const Node& leaving) {
  const bool had_succeeded =
      leaving.phase == NodePhase::kSucceeded && leaving.round == round_;
  if (phase_ != JobPhase::kStopping || !break_.by_failure || had_succeeded ||
      leaving.part == Part::kNone || !HasNotSeenBreak(leaving)) {
    return;
  }
  Excuse(leaving.identity.node_id,
         absl::StrCat(leaving.identity.host, " (group rank ",
                      leaving.group_rank, ") goes: ", leaving.going_why));
  break_.by_failure = false;
}

// Makes the preemption the cause of a break that a failure began, if `by` had
// not seen the order to stop. The cluster signals one process after another,
// workers before agents and one node before the next. Each report repeats the
// notice, so this is called several times.
void Job::BlamePreemption(const Node& by) {
  const bool counts = break_.restarts_spent > 0 ||
                      (break_.verdict.has_value() &&
                       break_.verdict->outcome == Outcome::kFailed);
  if (!break_.by_failure || !counts) return;
  if (by.part == Part::kNone || !HasNotSeenBreak(by)) return;
  Excuse(by.identity.node_id, PreemptionReason());
}

void Job::Excuse(const std::string& node_id, const std::string& why) {
  restarts_used_ -= std::exchange(break_.restarts_spent, 0);
  break_.verdict = break_.otherwise;
  why_ = why;
  ++wording_;
  Note("blame", node_id,
       absl::StrCat("round ", round_, " broke because ", why_, "; not by ",
                    break_.why));
  RetellMembers();
}

// Tells the members the new reason. The order to stop stays the same.
void Job::RetellMembers() {
  for (const World::Member& member : world_.members) {
    Node* node = nodes_.Find(member.node_id);
    if (node != nullptr && node->part != Part::kNone) Tell(*node);
  }
}

// A worker that raises an exception may need seconds to exit, for example in
// destroy_process_group(). Its peers lose their connections to it and may exit
// before. The blame then moves to the worker whose error file is the older one.
// Returns whether the blame has moved to `failure`.
bool Job::BlameRaisedFirst(const Failure& failure) {
  if (phase_ != JobPhase::kStopping || !break_.by_failure ||
      !failure.raised_first || IsCommunicationError(failure.message) ||
      !MayFollow(*failures_.cause(), failure.node_id)) {
    return false;
  }
  MoveBlame(failure, "blame", ", which was raised before; not by ");
  return true;
}

// Makes `failure` the cause instead of the former one. `instead_of` joins the
// two in the decision's text.
void Job::MoveBlame(const Failure& failure, const char* decision,
                    const char* instead_of) {
  break_.failed_on = failure.node_id;
  failures_.Blame(failure);
  const std::string before = break_.why;
  break_.why = why_ = WhyOf(failure);
  if (break_.verdict.has_value() &&
      break_.verdict->outcome == Outcome::kFailed) {
    break_.verdict->reason = why_;
    break_.verdict->exit_code = ExitCodeOf(failure);
  }
  ++wording_;
  Note(decision, failure.node_id,
       absl::StrCat("round ", round_, " broke because ", why_, instead_of,
                    before));
  RetellMembers();
}

// If one worker hangs, its peers wait for it and fall silent as well. Which
// node reports first depends on how long it takes to collect stacks. Therefore,
// while the round stops, the blame moves to a hang that began earlier, and from
// a running worker to one that is stopped by a signal. Returns whether the
// blame has moved to `failure`.
bool Job::BlameLikelierHang(const Failure& failure) {
  if (phase_ != JobPhase::kStopping || failure.kind != FailureKind::kHung ||
      !break_.by_failure || !break_.silent_since.has_value()) {
    return false;
  }
  const Instant since = SilentSince(failure, now_);
  const bool stopped = IsStopped(failure);
  if (stopped == break_.stopped) {
    if (since >= *break_.silent_since) return false;
  } else if (!stopped) {
    return false;
  }
  const char* const why = stopped ? ", which is stopped; not by "
                                  : ", which fell silent first; not by ";
  break_.silent_since = since;
  break_.stopped = stopped;
  MoveBlame(failure, "hang", why);
  return true;
}

}  // namespace muster::rendezvous
