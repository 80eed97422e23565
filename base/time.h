#ifndef MUSTER_BASE_TIME_H_
#define MUSTER_BASE_TIME_H_

#include <chrono>
#include <ctime>

namespace muster {

// The clock of pure code: a clock type without `now()`. Pure code gets the time
// as an argument only, so that tests and simulations control it.
struct MonotonicTag {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
};

using Duration = std::chrono::nanoseconds;

// A time on this process's monotonic clock. The origin is arbitrary and differs
// between processes, so never send an Instant over the network.
using Instant = std::chrono::time_point<MonotonicTag, Duration>;

inline double ToSeconds(Duration d) {
  return std::chrono::duration<double>(d).count();
}

// Converts a duration, which must not be negative, to the type that system
// calls take.
inline timespec ToTimespec(Duration d) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(d);
  return {.tv_sec = seconds.count(), .tv_nsec = (d - seconds).count()};
}

}  // namespace muster

#endif  // MUSTER_BASE_TIME_H_
