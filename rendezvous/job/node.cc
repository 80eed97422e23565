#include "rendezvous/job/node.h"

namespace muster {

bool Node::ready() const {
  return stream != 0 && !going && part == Part::kNone &&
         seen >= must_have_seen &&
         (phase == NodePhase::kIdle || phase == NodePhase::kSucceeded);
}

}  // namespace muster
