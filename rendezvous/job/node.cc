#include "rendezvous/job/node.h"

namespace muster::rendezvous {

bool Node::ready() const { return present() && health == Health::kHealthy; }

bool Node::being_checked() const {
  return present() && health == Health::kUnchecked;
}

bool Node::kept_out() const {
  return present() && health == Health::kUnhealthy;
}

bool Node::present() const {
  return stream != 0 && !going && part == Part::kNone &&
         seen >= must_have_seen &&
         (phase == NodePhase::kIdle || phase == NodePhase::kSucceeded);
}

}  // namespace muster::rendezvous
