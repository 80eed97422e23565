#ifndef MUSTER_BASE_TIMESPEC_H_
#define MUSTER_BASE_TIMESPEC_H_

#include <chrono>
#include <ctime>

#include "base/time.h"

namespace muster {

// Converts a duration, which must not be negative, to the type that system
// calls take.
inline timespec ToTimespec(Duration d) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(d);
  return {.tv_sec = seconds.count(), .tv_nsec = (d - seconds).count()};
}

}  // namespace muster

#endif  // MUSTER_BASE_TIMESPEC_H_
