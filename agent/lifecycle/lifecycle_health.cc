// Health checks of this node, between rounds.

#include "absl/strings/str_cat.h"
#include "agent/lifecycle/lifecycle.h"

namespace muster::agent {

void Lifecycle::UpdateHealthChecks() {
  if (leave_.has_value()) {
    if (health_.Stop()) step_.actions.emplace_back(DropCheck{});
    return;
  }
  // A node that has succeeded needs no check until the coordinator says that
  // the round has ended on all nodes: most likely no other round follows.
  const bool done = phase_ == rendezvous::NodePhase::kSucceeded &&
                    directive_.has_value() &&
                    directive_->kind == rendezvous::DirectiveKind::kRun;
  if (done || preemption_.has_value()) return;
  if (const std::optional<uint64_t> check = health_.Due(now_)) {
    step_.actions.emplace_back(StartCheck{*check});
  }
}

void Lifecycle::On(const HealthFound& event) {
  const rendezvous::Health before = health_.health();
  if (!health_.Found(now_, event.check, event.unhealthy)) return;
  changed_ = true;
  if (!event.unhealthy.empty()) {
    Notice(absl::StrCat("this node is unhealthy: ", event.unhealthy,
                        "; it is kept out, and looked at again every ",
                        ToSeconds(*config_.health_interval), " s"));
  } else if (before == rendezvous::Health::kUnhealthy) {
    Notice("this node is healthy again");
  }
}

}  // namespace muster::agent
