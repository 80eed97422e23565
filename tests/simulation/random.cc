#include "tests/simulation/random.h"

namespace muster::simulation {
namespace {

uint64_t RotateLeft(uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }

}  // namespace

Random::Random(uint64_t seed) {
  for (uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    word = z ^ (z >> 31);
  }
}

uint64_t Random::Next() {
  const uint64_t result = RotateLeft(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = RotateLeft(state_[3], 45);
  return result;
}

int Random::Below(int bound) {
  return static_cast<int>(Next() % static_cast<uint64_t>(bound));
}

int Random::Between(int low, int high) { return low + Below(high - low + 1); }

Duration Random::Between(Duration low, Duration high) {
  const uint64_t span = static_cast<uint64_t>((high - low).count()) + 1;
  return low + Duration(static_cast<Duration::rep>(Next() % span));
}

bool Random::Chance(int per_mille) { return Below(1000) < per_mille; }

}  // namespace muster::simulation
