#ifndef MUSTER_TESTS_SIMULATION_RANDOM_H_
#define MUSTER_TESTS_SIMULATION_RANDOM_H_

#include <cstdint>

#include "base/time.h"

namespace muster::simulation {

// The generator xoshiro256** (Blackman and Vigna), seeded by splitmix64. It is
// implemented here because the distributions of <random> differ between
// standard libraries, and a seed must give the same result everywhere.
class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t Next();
  // A number from 0 to `bound` - 1; `bound` is positive.
  int Below(int bound);
  // A number from `low` to `high`, both included.
  int Between(int low, int high);
  Duration Between(Duration low, Duration high);
  // True with a probability of `per_mille` / 1000.
  bool Chance(int per_mille);

 private:
  uint64_t state_[4];
};

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_RANDOM_H_
