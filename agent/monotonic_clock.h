#ifndef MUSTER_AGENT_MONOTONIC_CLOCK_H_
#define MUSTER_AGENT_MONOTONIC_CLOCK_H_

#include <chrono>

#include "rendezvous/protocol/time.h"

namespace muster {

// The driver's clock, in the cores' terms.
inline Instant MonotonicNow() {
  return Instant(std::chrono::duration_cast<Duration>(
      std::chrono::steady_clock::now().time_since_epoch()));
}

}  // namespace muster

#endif  // MUSTER_AGENT_MONOTONIC_CLOCK_H_
