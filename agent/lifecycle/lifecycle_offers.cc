// The part of Lifecycle that handles what the node offers for the next round:
// its health, its measurements with other nodes, and a port and an NCCL id,
// which are used if the node gets group rank 0.

#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/lifecycle/lifecycle.h"

namespace muster::agent {

void Lifecycle::On(const PortHeld& event) {
  if (held_port_ == event.port) return;
  held_port_ = event.port;
  changed_ = changed_ || phase_ == rendezvous::NodePhase::kIdle;
}

void Lifecycle::On(const NcclIdReady& event) {
  nccl_id_.Take(event.id);
  changed_ = changed_ || phase_ == rendezvous::NodePhase::kIdle;
}

void Lifecycle::On(const NcclIdMissing& event) {
  changed_ = changed_ ||
             (phase_ == rendezvous::NodePhase::kIdle && !nccl_id_.id().empty());
  nccl_id_.GiveUp();
  if (!event.why.empty()) Notice(event.why);
}

// Handles the death of the NCCL root, the process through which the ranks of
// the round connect to each other. Does not break the round: the ranks do not
// need the root after they have connected, and many programs never use it. A
// rank that still needs the root times out. The notice printed here explains
// that failure to the user.
void Lifecycle::On(const NcclRootLost& event) {
  if (!HasWorkers()) return;
  nccl_root_lost_ = event.what;
  changed_ = true;
  Notice(absl::StrCat(event.what,
                      "; who has not met the other ranks through it by now "
                      "will wait until its deadline"));
}

bool Lifecycle::NeedsNoCheck() const {
  if (preemption_.has_value()) return true;
  // A node whose workers have all succeeded most likely joins no other round.
  // So its health is not checked until the round has ended on all nodes. Until
  // then, the directive is kRun or kHold.
  return phase_ == rendezvous::NodePhase::kSucceeded &&
         directive_.has_value() &&
         (directive_->kind == rendezvous::DirectiveKind::kRun ||
          directive_->kind == rendezvous::DirectiveKind::kHold);
}

void Lifecycle::UpdateHealthChecks() {
  if (leave_.has_value()) {
    if (health_.Stop()) step_.actions.emplace_back(DropCheck{});
    return;
  }
  if (NeedsNoCheck()) return;
  if (const std::optional<uint64_t> check = health_.Due(now_)) {
    step_.actions.emplace_back(StartCheck{*check});
  }
}

void Lifecycle::FollowPairCheck() {
  const bool is_asked = directive_.has_value() && !leave_.has_value() &&
                        !HasWorkers() &&
                        directive_->kind == rendezvous::DirectiveKind::kWait &&
                        directive_->pair_check.has_value();
  if (!is_asked) {
    measurement_.reset();
    if (std::exchange(is_measuring_, false)) {
      step_.actions.emplace_back(DropMeasurement{});
    }
    return;
  }
  const std::pair<uint64_t, uint64_t> asked = {directive_->epoch,
                                               directive_->pair_check->number};
  if (asked == pair_check_) return;
  pair_check_ = asked;
  is_measuring_ = true;
  measurement_.reset();
  step_.actions.emplace_back(
      MeasurePair{directive_->epoch, *directive_->pair_check});
}

void Lifecycle::On(const PairMeasured& event) {
  const rendezvous::PairMeasurement& measured = event.measurement;
  if (!is_measuring_ ||
      pair_check_ != std::pair(measured.epoch, measured.number)) {
    return;
  }
  is_measuring_ = false;
  measurement_ = measured;
  changed_ = true;
}

void Lifecycle::TakeCheckFault(const rendezvous::Directive& directive) {
  const bool tells = directive.kind == rendezvous::DirectiveKind::kWait ||
                     directive.kind == rendezvous::DirectiveKind::kRun;
  if (!tells || check_fault_ == directive.check_fault) return;
  check_fault_ = directive.check_fault;
  Notice(check_fault_.empty() ? "this node is good in the check by pairs"
                              : absl::StrCat("this node is ", check_fault_));
}

void Lifecycle::On(const HealthChecked& event) {
  const rendezvous::Health before = health_.health();
  if (!health_.Found(now_, event.check, event.unhealthy)) return;
  changed_ = true;
  if (!event.unhealthy.empty() && before != rendezvous::Health::kUnhealthy) {
    On(NodeFaultSeen{.kind = rendezvous::FaultKind::kCheck,
                     .text = absl::StrCat("check: ", event.unhealthy)});
  }
  if (!event.unhealthy.empty()) {
    Notice(absl::StrCat("this node is unhealthy: ", event.unhealthy,
                        "; it is kept out, and looked at again every ",
                        ToSeconds(*config_.health_interval), " s"));
  } else if (before == rendezvous::Health::kUnhealthy) {
    Notice("this node is healthy again");
  }
}

void Lifecycle::On(const NodeFaultSeen& event) {
  const uint64_t ordinal = faults_.empty() ? 1 : faults_.back().ordinal + 1;
  faults_.push_back(
      {.ordinal = ordinal, .kind = event.kind, .text = event.text});
  if (faults_.size() > rendezvous::kMaxNodeFaults) {
    faults_.erase(faults_.begin());
  }
  changed_ = true;
}

}  // namespace muster::agent
