#ifndef MUSTER_TRAINER_SDK_KERNELS_SUMS_H_
#define MUSTER_TRAINER_SDK_KERNELS_SUMS_H_

#include <cstdint>

namespace muster {

// term(0) + ... + term(count - 1), in eight sums side by side: quicker, more
// exact, and in the same order on every machine.
template <typename Term>
auto SumOf(int64_t count, Term term) {
  constexpr int64_t kLanes = 8;
  using T = decltype(term(int64_t{0}));
  T lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
  }
  for (int64_t lane = 0; i < count; ++i, ++lane) lanes[lane] += term(i);
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
         ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_KERNELS_SUMS_H_
