#ifndef MUSTER_BASE_UNIX_TIME_H_
#define MUSTER_BASE_UNIX_TIME_H_

#include <chrono>

#include "base/time.h"

namespace muster {

// The wall clock in seconds since 1970. Only code that does I/O calls this
// function; pure code gets the time as an argument. The wall clock may be set
// forward or back, so deadlines use MonotonicNow instead.
inline double UnixSeconds() {
  return std::chrono::duration<double>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// The time that UnixSeconds returns, as a Duration since 1970.
inline Duration UnixTime() {
  return std::chrono::duration_cast<Duration>(
      std::chrono::system_clock::now().time_since_epoch());
}

}  // namespace muster

#endif  // MUSTER_BASE_UNIX_TIME_H_
