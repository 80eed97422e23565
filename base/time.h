#ifndef MUSTER_BASE_TIME_H_
#define MUSTER_BASE_TIME_H_

#include <chrono>

namespace muster {

// The clock of the pure cores: a name without a `now()`. Time reaches a core
// only as an argument, so that a test can advance it and a simulation can own
// it.
struct MonotonicTag {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
};

using Duration = std::chrono::nanoseconds;

// A moment on the driver's monotonic clock. The origin is arbitrary and the
// same within one process only: never send one over the wire.
using Instant = std::chrono::time_point<MonotonicTag, Duration>;

inline double ToSeconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}

}  // namespace muster

#endif  // MUSTER_BASE_TIME_H_
