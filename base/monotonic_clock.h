#ifndef MUSTER_BASE_MONOTONIC_CLOCK_H_
#define MUSTER_BASE_MONOTONIC_CLOCK_H_

#include <chrono>

#include "base/time.h"

namespace muster {

// The time of the monotonic clock. For code that does I/O; pure code gets the
// time as an argument.
inline Instant MonotonicNow() {
  return Instant(std::chrono::duration_cast<Duration>(
      std::chrono::steady_clock::now().time_since_epoch()));
}

// Converts an Instant to the type that std::condition_variable::wait_until
// takes.
inline std::chrono::steady_clock::time_point ToSteady(Instant instant) {
  return std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(
          instant.time_since_epoch()));
}

}  // namespace muster

#endif  // MUSTER_BASE_MONOTONIC_CLOCK_H_
