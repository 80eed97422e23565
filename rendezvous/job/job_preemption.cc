// The cluster takes the nodes away, and says so some time before: the members
// are told, may write what they must keep, and the job ends.

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rendezvous/job/job.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster {

void Job::Preempt(const Node& by, const PreemptionNotice& notice) {
  const Instant deadline =
      now_ + std::clamp(notice.left, Duration::zero(), spec_.preempt_grace);
  if (preemption_.has_value()) {
    // Asked once more, a node leaves nothing of the grace.
    preemption_->deadline = std::min(preemption_->deadline, deadline);
    // What the first who told of it cannot explain, another may.
    if (phase_ == JobPhase::kStopping) BlamePreemption(by);
    return;
  }
  // The failures of a round that is over have been dealt with.
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
        // Nobody has anything to keep yet, and who has not begun shall not.
        BreakRound({.why = what, .cause = StopCause::kAsked});
        break;
      }
      for (const World::Member& member : world_.members) {
        Node* node = nodes_.Find(member.node_id);
        if (node != nullptr && node->part != Part::kNone) Tell(*node);
      }
      break;
    case JobPhase::kStopping:
      // What follows, if it is no verdict, is this one.
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

// A failure meanwhile changes neither outcome nor exit code: its worker may
// well be a victim of what the cluster does, and the job is to be tried again.
// But it is named, since what was to be kept may not be whole.
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

// The first of the last world that is still here, so that there is one and only
// one, whoever has died.
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

}  // namespace muster
