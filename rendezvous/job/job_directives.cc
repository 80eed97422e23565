// Directives: a function from the job's state to one node's directive, and its
// revision.

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rendezvous/job/job.h"

namespace muster::rendezvous {

DirectiveKey Job::KeyFor(const Node& node) const {
  DirectiveKey key;
  const bool member = node.part != Part::kNone;
  if (finished()) {
    key.kind = DirectiveKind::kFinished;
  } else if (phase_ == JobPhase::kRunning && member) {
    key.kind = DirectiveKind::kRun;
    key.round = round_;
    key.newest_signal = signals_.empty() ? 0 : newest_signal_;
    key.preempted = preemption_.has_value();
  } else if (phase_ == JobPhase::kStopping && member) {
    key.kind = DirectiveKind::kStop;
    key.round = round_;
    key.at_once = break_.at_once;
    key.preempted = preemption_.has_value();
  } else if (node.going) {
    key.kind = DirectiveKind::kReleased;
  } else if (node.phase == NodePhase::kRunning ||
             node.phase == NodePhase::kStopping) {
    // The node runs a round that is not (or no longer) its own: it lost its
    // lease, or the round belongs to an earlier coordinator.
    key.kind = DirectiveKind::kStop;
    key.round = node.round;
  } else {
    key.kind = DirectiveKind::kWait;
  }
  return key;
}

StopOrder Job::StopOrderFor(int round) const {
  const bool ours = round == round_ && phase_ == JobPhase::kStopping;
  return {.round = round,
          .signal = ours ? break_.signal : StopOrder().signal,
          .grace = ours && break_.at_once ? Duration::zero()
                                          : spec_.shutdown_timeout,
          .cause = ours ? break_.cause : StopCause::kBroken};
}

void Job::KeepSpeaker() {
  const Node* speaker = nodes_.Find(speaker_);
  if (speaker == nullptr || speaker->stream == 0) speaker_ = SpeakerNow();
}

bool Job::IsSaidBy(const Node& node, const DirectiveKey& key) const {
  const bool is_speaker = node.identity.node_id == speaker_;
  switch (key.kind) {
    case DirectiveKind::kRun:
      return node.group_rank == 0;
    case DirectiveKind::kStop:
      // A node of an earlier round stops alone, so it prints the reason itself.
      // After a restart of the coordinator all nodes do.
      return is_speaker || key.round < round_ ||
             (key.round == round_ && phase_ != JobPhase::kStopping);
    case DirectiveKind::kWait:
      // While a round runs, only spares wait.
      return is_speaker || phase_ == JobPhase::kRunning;
    case DirectiveKind::kFinished:
    case DirectiveKind::kReleased:
    case DirectiveKind::kRefused:
      break;
  }
  return false;
}

Directive Job::DirectiveFor(const Node& node) const {
  const DirectiveKey key = KeyFor(node);
  Directive directive;
  directive.epoch = epoch_;
  directive.revision = node.revision;
  directive.kind = key.kind;
  directive.reason = why_;
  directive.said_here = IsSaidBy(node, key);
  switch (key.kind) {
    case DirectiveKind::kWait:
      directive.reason = WaitReason(&node);
      if (node.kept_out()) {
        directive.reason = absl::StrCat(
            "this node is not let in: ", node.unhealthy,
            "; it is looked at again and again (", directive.reason, ")");
      } else if (node.health == Health::kUnchecked) {
        directive.reason =
            absl::StrCat("this node is being checked (", directive.reason, ")");
      }
      break;
    case DirectiveKind::kRun:
      directive.place = world_.PlaceOf(node.group_rank, round_);
      directive.place.run_tag = run_tag_;
      directive.signals = signals_;
      directive.preemption = PreemptionNow();
      break;
    case DirectiveKind::kStop:
      directive.stop = StopOrderFor(key.round);
      directive.preemption = PreemptionNow();
      if (key.round > round_) {
        directive.reason =
            "the coordinator does not know it: it was started again";
      } else if (key.round < round_ || phase_ != JobPhase::kStopping) {
        directive.reason = "the job went on without this node";
      }
      break;
    case DirectiveKind::kFinished:
      directive.verdict = *verdict_;
      directive.stop = StopOrderFor(node.round);
      directive.acts_for_job = node.identity.node_id == speaker_;
      break;
    case DirectiveKind::kReleased:
      directive.reason = node.going_why;
      directive.stop = StopOrderFor(node.round);
      break;
    case DirectiveKind::kRefused:
      break;
  }
  return directive;
}

std::string Job::WaitReason(const Node* node) const {
  if (phase_ == JobPhase::kStopping) {
    return absl::StrCat("round ", round_, " is being stopped: ", why_);
  }
  if (phase_ == JobPhase::kRunning) {
    if (world_.size() >= spec_.max_nodes) {
      return absl::StrCat("spare: round ", round_, " runs with all of its ",
                          spec_.max_nodes, " nodes");
    }
    return absl::StrCat("round ", round_, " runs with ", world_.size(),
                        " of up to ", spec_.max_nodes, " nodes; ",
                        spec_.scale_up == ScaleUp::kRestart
                            ? "this node is let in at the next round"
                            : "this node is a spare (--scale-up=never)");
  }
  std::string reason;
  if (!first_gathering_) {
    absl::StrAppend(&reason, "round ", round_, " is over (", why_, "); ");
  }
  absl::StrAppend(&reason, nodes_.ready(), " of ");
  if (nodes_.ready() < spec_.min_nodes) {
    absl::StrAppend(&reason, first_gathering_ ? "" : "at least ",
                    spec_.min_nodes, " nodes here, waiting for ",
                    spec_.min_nodes - nodes_.ready(), " more",
                    // Only in a status: a directive must not cost O(n) of the
                    // nodes.
                    node == nullptr ? Absent() : std::string());
  } else {
    absl::StrAppend(&reason, "up to ", spec_.max_nodes, " nodes here, ",
                    nodes_.being_checked() > 0 ? "others are being checked"
                                               : "last call for more");
  }
  return absl::StrCat(reason, KeptOut(node));
}

void Job::Tell(Node& node) {
  if (question_.has_value() && question_->node_id == node.identity.node_id) {
    question_->answered = true;
  }
  const DirectiveKey key = KeyFor(node);
  if (node.stream == 0) return;  // told when it comes back
  if (node.revision == 0 || key != node.told) {
    node.revision = ++revision_;
    node.told = key;
  }
  node.wording = wording_;
  step_.deliveries.push_back({node.stream, DirectiveFor(node)});
}

void Job::Refuse(StreamId stream, const Objection& objection) {
  TellStream(stream, DirectiveKind::kRefused, objection.told);
  step_.deliveries.back().directive.another_job = objection.another_job;
}

void Job::TellStream(StreamId stream, DirectiveKind kind, std::string reason) {
  Directive directive;
  directive.epoch = epoch_;
  directive.revision = ++revision_;
  directive.kind = kind;
  directive.reason = std::move(reason);
  directive.said_here = true;
  directive.stop.grace = spec_.shutdown_timeout;
  if (kind == DirectiveKind::kFinished) directive.verdict = *verdict_;
  step_.deliveries.push_back({stream, std::move(directive)});
}

}  // namespace muster::rendezvous
