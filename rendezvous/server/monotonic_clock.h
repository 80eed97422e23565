#ifndef MUSTER_RENDEZVOUS_SERVER_MONOTONIC_CLOCK_H_
#define MUSTER_RENDEZVOUS_SERVER_MONOTONIC_CLOCK_H_

#include <chrono>

#include "rendezvous/protocol/time.h"

namespace muster {

// The coordinator's time. std::condition_variable waits by the same clock.
inline Instant MonotonicNow() {
  return Instant(std::chrono::duration_cast<Duration>(
      std::chrono::steady_clock::now().time_since_epoch()));
}

inline std::chrono::steady_clock::time_point ToSteady(Instant instant) {
  return std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(
          instant.time_since_epoch()));
}

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_SERVER_MONOTONIC_CLOCK_H_
