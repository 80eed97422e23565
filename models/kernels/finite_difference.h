#ifndef MUSTER_MODELS_KERNELS_FINITE_DIFFERENCE_H_
#define MUSTER_MODELS_KERNELS_FINITE_DIFFERENCE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "gtest/gtest.h"

namespace muster {

// Numbers without a pattern, about evenly between -1 and 1.
inline std::vector<double> Numbers(int64_t count, int seed) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(std::sin(1.0 + 12.9898 * static_cast<double>(i * i + 1) +
                               78.233 * seed));
  }
  return numbers;
}

inline double Dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// `gradient` is that of `loss` with respect to `at`, entry by entry, by central
// differences in double. `loss` reads `at`.
inline void ExpectGradient(std::vector<double>& at,
                           const std::vector<double>& gradient,
                           const std::function<double()>& loss) {
  ASSERT_EQ(at.size(), gradient.size());
  constexpr double kStep = 1e-5;
  for (size_t i = 0; i < at.size(); ++i) {
    const double here = at[i];
    at[i] = here + kStep;
    const double above = loss();
    at[i] = here - kStep;
    const double below = loss();
    at[i] = here;
    const double slope = (above - below) / (2 * kStep);
    EXPECT_NEAR(gradient[i], slope, 1e-7 * std::max(1.0, std::abs(slope)))
        << "entry " << i;
  }
}

}  // namespace muster

#endif  // MUSTER_MODELS_KERNELS_FINITE_DIFFERENCE_H_
