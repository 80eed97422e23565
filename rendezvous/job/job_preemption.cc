// Preemption: the cluster takes the nodes away after a notice. The members are
// told, may write a last checkpoint, and the job ends.

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rendezvous/job/job.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::rendezvous {

void Job::Preempt(const Node& by, const PreemptionNotice& notice) {
  const Instant deadline =
      now_ + std::clamp(notice.left, Duration::zero(), spec_.preempt_grace);
  if (preemption_.has_value()) {
    // A second signal to a node leaves nothing of the grace.
    preemption_->deadline = std::min(preemption_->deadline, deadline);
    // The break may be explained by another node than the one that reported the
    // preemption first.
    if (phase_ == JobPhase::kStopping) BlamePreemption(by);
    return;
  }
  // The failures of an ended round have been handled.
  if (phase_ == JobPhase::kGathering) failures_.Clear();
  preemption_ = Preemption{
      .notice = {.signal = notice.signal, .host = notice.host},
      .deadline = deadline,
  };
  const std::string what = PreemptionVerdict().reason;
  Note("preempt", by.identity.node_id,
       absl::StrCat(what, "; workers may run for ", ToSeconds(deadline - now_),
                    " s more"));
  ++wording_;
  switch (phase_) {
    case JobPhase::kGathering:
      Finish(PreemptionVerdict());
      break;
    case JobPhase::kRunning:
      why_ = what;
      if (world_.unstarted > 0) {
        // No worker has anything to keep yet, and the other nodes shall not
        // start.
        BreakRound({.why = what, .cause = StopCause::kAsked});
        break;
      }
      for (const World::Member& member : world_.members) {
        Node* node = nodes_.Find(member.node_id);
        if (node != nullptr && node->part != Part::kNone) Tell(*node);
      }
      break;
    case JobPhase::kStopping:
      // If the break has no verdict, this preemption's verdict follows.
      BlamePreemption(by);
      break;
    case JobPhase::kFinished:
      break;
  }
}

void Job::EndGrace(const CancelWish& wish) {
  preemption_->deadline = std::min(preemption_->deadline, now_);
  if (phase_ == JobPhase::kStopping && wish.at_once && !break_.at_once) {
    break_.at_once = true;
    StopMembers();
  }
}

void Job::MindTheGrace() {
  if (!preemption_.has_value() || now_ < preemption_->deadline) return;
  BreakRound(
      {.why = absl::StrCat(PreemptionVerdict().reason, "; the grace is over"),
       .cause = StopCause::kAsked});
}

std::optional<PreemptionNotice> Job::PreemptionNow() const {
  if (!preemption_.has_value()) return std::nullopt;
  PreemptionNotice notice = preemption_->notice;
  notice.left = std::max(preemption_->deadline - now_, Duration::zero());
  return notice;
}

std::string Job::PreemptionReason() const {
  return absl::StrCat("preempted: ", SignalName(preemption_->notice.signal),
                      " at ", preemption_->notice.host);
}

// A failure during a preemption changes neither outcome nor exit code: its
// worker may be a victim of the cluster's actions, and the job is to be run
// again. The reason names the failure, because the last checkpoint may be
// incomplete.
Verdict Job::PreemptionVerdict() const {
  std::string reason = PreemptionReason();
  if (const auto& cause = failures_.cause(); cause.has_value()) {
    absl::StrAppend(
        &reason, "; besides, ",
        cause->rank < 0
            ? absl::StrCat(cause->host, " was lost: ", cause->message)
            : WhyOf(*cause));
  }
  return NewVerdict(Outcome::kPreempted, kPreemptedExitCode, std::move(reason));
}

// The first connected member of the last world, so that exactly one node
// speaks, whichever nodes have died.
std::string Job::SpeakerNow() const {
  for (const World::Member& member : world_.members) {
    const auto found = nodes_.nodes().find(member.node_id);
    if (found != nodes_.nodes().end() && found->second.stream != 0) {
      return member.node_id;
    }
  }
  for (const auto& [id, node] : nodes_.nodes()) {
    if (node.stream != 0) return id;
  }
  return "";
}

}  // namespace muster::rendezvous
