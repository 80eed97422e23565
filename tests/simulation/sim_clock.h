#ifndef MUSTER_TESTS_SIMULATION_SIM_CLOCK_H_
#define MUSTER_TESTS_SIMULATION_SIM_CLOCK_H_

#include "base/time.h"

namespace muster::simulation {

// The monotonic clock of one simulated process. It is faster than simulated
// time by `ppm` millionths (negative: slower). Its origin is the process's
// start, shifted by an arbitrary offset.
class SimClock {
 public:
  // A clock that shows simulated time.
  SimClock() = default;
  SimClock(Instant start, Duration offset, int ppm)
      : start_(start), offset_(offset), ppm_(ppm) {}

  // Returns what the clock shows at `time`, a simulated time.
  Instant Read(Instant time) const {
    const Duration lived = time - start_;
    return time + offset_ + lived * ppm_ / kMillion;
  }
  // Returns the first simulated time at which the clock shows at least `shown`.
  Instant When(Instant shown) const {
    if (ppm_ == 0) return shown - offset_;
    const Duration lived = shown - offset_ - start_;
    // floor, then step up to the first sufficient time: rounding costs 2 ns at
    // most
    Instant time = start_ + lived * kMillion / (kMillion + ppm_) - Duration(2);
    while (Read(time) < shown) time += Duration(1);
    return time;
  }

 private:
  static constexpr int kMillion = 1'000'000;

  Instant start_;
  Duration offset_ = Duration::zero();
  int ppm_ = 0;
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_SIM_CLOCK_H_
