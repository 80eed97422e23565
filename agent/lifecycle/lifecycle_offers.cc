// The port and the NCCL id that this node offers for the next round, in case it
// gets group rank 0.

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

// The round is not broken by a lost NCCL root: the root is not needed after the
// ranks have connected, and many programs never use the id. A rank that still
// needs the root times out; the note explains its failure.
void Lifecycle::On(const NcclRootLost& event) {
  if (!HasWorkers()) return;
  nccl_root_lost_ = event.what;
  changed_ = true;
  Notice(absl::StrCat(event.what,
                      "; who has not met the other ranks through it by now "
                      "will wait until its deadline"));
}

}  // namespace muster::agent
