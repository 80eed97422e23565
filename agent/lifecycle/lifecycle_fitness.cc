// Whether this node may take part in the next round.

#include "absl/strings/str_cat.h"
#include "agent/lifecycle/lifecycle.h"

namespace muster::agent {

void Lifecycle::MindTheFitness() {
  if (leave_.has_value()) {
    if (fitness_.Stop()) step_.actions.emplace_back(DropCheck{});
    return;
  }
  // Until its round is known to be over for all, a node that has succeeded will
  // most likely have no other.
  const bool done = phase_ == rendezvous::NodePhase::kSucceeded &&
                    directive_.has_value() &&
                    directive_->kind == rendezvous::DirectiveKind::kRun;
  if (done || preemption_.has_value()) return;
  if (const std::optional<uint64_t> check = fitness_.Due(now_)) {
    step_.actions.emplace_back(StartCheck{*check});
  }
}

void Lifecycle::On(const FitnessFound& event) {
  const rendezvous::Fitness before = fitness_.fitness();
  if (!fitness_.Found(now_, event.check, event.unfit)) return;
  changed_ = true;
  if (!event.unfit.empty()) {
    Notice(absl::StrCat("this node is unfit: ", event.unfit,
                        "; it is kept out, and looked at again every ",
                        ToSeconds(*config_.fitness_interval), " s"));
  } else if (before == rendezvous::Fitness::kUnfit) {
    Notice("this node is fit again");
  }
}

}  // namespace muster::agent
