// Who is blamed for a broken round: the first failure, unless a node's loss or
// a likelier hang explains it, as is found out while the round stops.

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rendezvous/job/job.h"

namespace muster {
namespace {

// By our clock, when the worker that hangs was last heard of. What the message
// took to come makes it seem a little later.
Instant SilentSince(const Failure& hang, Instant now) {
  return now - std::max(hang.silent_for, Duration::zero());
}

// Its node's kernel says so: its peers wait for it, not it for them.
bool IsStopped(const Failure& hang) { return hang.signal == SIGSTOP; }

// Two that fell silent within this part of the silence did so together.
constexpr int kTogetherDivisor = 10;

}  // namespace

// What a worker says that waited in vain for the root of the round's NCCL id is
// only half of the story.
std::string Job::WhyOf(const Failure& failure) const {
  return absl::StrCat("rank ", failure.rank, " on ", failure.host, ": ",
                      failure.message,
                      world_.nccl_root_lost.empty() ? "" : "; before that, ",
                      world_.nccl_root_lost, DoubtAbout(failure));
}

// Workers of several nodes that wait for one another fall silent together, in
// an order that says nothing.
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
      // It has ended, or may be silent for ever.
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
    // The others would wait for it in vain. No restart is spent: what follows
    // is the preemption's verdict, which names this failure.
    reason.by_failure = true;
    BreakRound(std::move(reason));
    return;
  }
  if (failure.kind == FailureKind::kStartFailed) {
    // What cannot be started now cannot be started again: no restart is
    // spent on it.
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

// A node dies, and its peers' workers fail on their broken connections before
// we know of it: the first failure is then a victim's. In which order we read
// the failure and the end of the node's stream, if there is one, says nothing;
// a node that lived on has answered the order to stop. So has the one that told
// of the failure, unless its worker was killed a moment before its agent was.
bool Job::ExplainsBreak(const Node& lost) const {
  // Else it lives, and was given up because it would not stop.
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

// What it says may be older than the failure that broke the round.
bool Job::HasNotSeenBreak(const Node& node) const {
  return node.seen <= break_.revision;
}

// Whether it broke the round itself, or the failure that did so was read first.
void Job::SuspectKill(const Failure& failure) {
  if (phase_ != JobPhase::kStopping || !break_.by_failure ||
      !break_.killed_on.empty() || failure.kind != FailureKind::kSignal ||
      failure.signal != SIGKILL) {
    return;
  }
  break_.killed_on = failure.node_id;
  break_.outlived = now_ + kKillSpread;
}

// The job is about to end, a SIGKILL may be why, and the agent of that worker
// has not yet outlived it for long enough.
bool Job::StillProvingLife() const {
  if (!break_.by_failure || break_.killed_on.empty()) return false;
  const auto found = nodes_.nodes().find(break_.killed_on);
  if (found == nodes_.nodes().end()) return false;
  return found->second.stream == 0 || now_ < break_.outlived;
}

// The loss of a node that explains the break is the cause after all, and a
// change of members spends no restart.
void Job::BlameLoss(const Failure& loss) {
  if (!break_.by_failure) return;
  failures_.Blame(loss);
  Excuse(loss.node_id, absl::StrCat(loss.host, " (group rank ", loss.group_rank,
                                    ") was lost: ", loss.message));
  break_.by_failure = false;
}

// Its guardian died, or who ends it has ended its workers first. One whose
// workers had succeeded leaves nobody behind.
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

// The cluster tells one process after another, workers before agents and one
// node before the next. Each report repeats its notice.
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

// The order to stop stays the same; its reason is another.
void Job::RetellMembers() {
  for (const World::Member& member : world_.members) {
    Node* node = nodes_.Find(member.node_id);
    if (node != nullptr && node->part != Part::kNone) Tell(*node);
  }
}

// One worker hangs, its peers wait for it and fall silent as well. Which node
// tells first depends on how long it takes to look at stacks, so while the
// round stops, a hang that began before the one that is blamed takes its place,
// and one of a worker that is stopped that of any other.
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
  break_.failed_on = failure.node_id;
  failures_.Blame(failure);
  const std::string before = break_.why;
  break_.why = why_ = WhyOf(failure);
  if (break_.verdict.has_value() &&
      break_.verdict->outcome == Outcome::kFailed) {
    break_.verdict->reason = why_;
  }
  ++wording_;
  Note("hang", failure.node_id,
       absl::StrCat("round ", round_, " broke because ", why_, why, before));
  RetellMembers();
  return true;
}

}  // namespace muster
