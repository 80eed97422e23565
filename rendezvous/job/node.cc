#include "rendezvous/job/node.h"

namespace muster::rendezvous {

bool Node::ready() const { return present() && fitness == Fitness::kFit; }

bool Node::being_checked() const {
  return present() && fitness == Fitness::kUnchecked;
}

bool Node::kept_out() const { return present() && fitness == Fitness::kUnfit; }

bool Node::present() const {
  return stream != 0 && !going && part == Part::kNone &&
         seen >= must_have_seen &&
         (phase == NodePhase::kIdle || phase == NodePhase::kSucceeded);
}

}  // namespace muster::rendezvous
