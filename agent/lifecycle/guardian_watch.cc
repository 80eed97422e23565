#include "agent/lifecycle/guardian_watch.h"

#include <algorithm>

namespace muster::agent {

void GuardianWatch::Heard(Instant now) {
  last_ = now;
  silent_ = Duration::zero();
}

bool GuardianWatch::Look(Instant now) {
  silent_ += std::min(now - last_, kMaxGap);
  last_ = now;
  if (stands_still_ || silent_ < kDeadline) return false;
  stands_still_ = true;
  return true;
}

std::optional<Instant> GuardianWatch::NextLook() const {
  if (stands_still_) return std::nullopt;
  return last_ + kLookEvery;
}

}  // namespace muster::agent
