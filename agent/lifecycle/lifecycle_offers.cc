// What this node holds for the next world, should it be the first of it.

#include "absl/strings/str_cat.h"
#include "agent/lifecycle/lifecycle.h"

namespace muster::agent {

void Lifecycle::On(const PortHeld& event) {
  if (held_port_ == event.port) return;
  held_port_ = event.port;
  changed_ = changed_ || phase_ == rendezvous::NodePhase::kIdle;
}

void Lifecycle::On(const NcclIdHeld& event) {
  nccl_id_.Take(event.id);
  changed_ = changed_ || phase_ == rendezvous::NodePhase::kIdle;
}

void Lifecycle::On(const NcclIdMissing& event) {
  changed_ = changed_ ||
             (phase_ == rendezvous::NodePhase::kIdle && !nccl_id_.id().empty());
  nccl_id_.GiveUp();
  if (!event.why.empty()) Notice(event.why);
}

// No reason to break the round: once the ranks have met through it the root is
// done, and many programs never ask for it. Whoever still waits for it has a
// deadline; what broke the round then can be told from this.
void Lifecycle::On(const NcclRootLost& event) {
  if (!HasWorkers()) return;
  nccl_root_lost_ = event.what;
  changed_ = true;
  Notice(absl::StrCat(event.what,
                      "; who has not met the other ranks through it by now "
                      "will wait until its deadline"));
}

}  // namespace muster::agent
