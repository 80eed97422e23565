#ifndef MUSTER_TESTS_SIMULATION_RANDOM_H_
#define MUSTER_TESTS_SIMULATION_RANDOM_H_

#include <cstdint>

#include "base/time.h"

namespace muster::simulation {

// xoshiro256** (Blackman and Vigna), seeded by splitmix64. Written out, since
// the distributions of <random> differ between standard libraries, and a seed
// must mean the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t Next();
  // From 0 to below `bound`, which is above 0.
  int Below(int bound);
  int Between(int low, int high);  // both included
  Duration Between(Duration low, Duration high);
  // Whether a thing happens that happens `per_mille` times in a thousand.
  bool Chance(int per_mille);

 private:
  uint64_t state_[4];
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_RANDOM_H_
