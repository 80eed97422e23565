#include "trainer_sdk/data/random_windows.h"

#include <random>

namespace muster {

std::vector<int64_t> DrawWindows(const WindowDraw& draw, int64_t count,
                                 int64_t positions) {
  // seed_seq mixes the seed with the numbers of the step and the batch, so that
  // the random draws of consecutive steps are independent.
  std::seed_seq seeds = {
      static_cast<uint32_t>(draw.seed), static_cast<uint32_t>(draw.seed >> 32),
      static_cast<uint32_t>(draw.step), static_cast<uint32_t>(draw.step >> 32),
      static_cast<uint32_t>(draw.batch)};
  std::mt19937_64 engine(seeds);
  std::vector<int64_t> begins;
  begins.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    // The remainder operator is good enough: for a 64-bit random number its
    // bias is not measurable.
    begins.push_back(
        static_cast<int64_t>(engine() % static_cast<uint64_t>(positions)));
  }
  return begins;
}

}  // namespace muster
