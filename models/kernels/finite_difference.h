#ifndef MUSTER_MODELS_KERNELS_FINITE_DIFFERENCE_H_
#define MUSTER_MODELS_KERNELS_FINITE_DIFFERENCE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/testing/rounding.h"
#include "gtest/gtest.h"

namespace muster::models {

// Pseudo-random numbers between -1 and 1.
inline std::vector<double> Numbers(int64_t count, int seed) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(std::sin(1.0 + 12.9898 * static_cast<double>(i * i + 1) +
                               78.233 * seed));
  }
  return numbers;
}

// The value of a loss that is computed as a sum. `magnitude`: the sum of the
// terms' absolute values, which bounds the rounding error of `value`.
struct LossSum {
  double value = 0;
  double magnitude = 0;
};

inline LossSum Dot(const std::vector<double>& a, const std::vector<double>& b) {
  LossSum sum;
  for (size_t i = 0; i < a.size(); ++i) {
    sum.value += a[i] * b[i];
    sum.magnitude += std::abs(a[i] * b[i]);
  }
  return sum;
}

// Returns the index of the first entry of `gradient` that differs from the
// derivative of `loss` at the point `at`; -1: none. `loss` reads the elements
// of `at`; its result has at most `operations` successive roundings.
//
// The derivative is computed in double from two central differences, D(h) and
// D(2h), by Richardson extrapolation: (4 D(h) - D(2h)) / 3. Two errors are
// allowed. The first is h |D(2h) - D(h)|, which is more than the error of the
// extrapolation (about h^2 |D(2h) - D(h)|). The second is the effect of the
// loss's rounding error on D(h) and D(2h).
inline int64_t WrongEntry(std::vector<double>& at,
                          const std::vector<double>& gradient, int operations,
                          const std::function<LossSum()>& loss) {
  if (at.size() != gradient.size()) return 0;
  constexpr double kStep = 0x1p-10;
  for (size_t i = 0; i < at.size(); ++i) {
    const double here = at[i];
    double magnitude = 0;
    const auto by = [&](double step) {
      at[i] = here + step;
      const LossSum sum = loss();
      magnitude = std::max(magnitude, sum.magnitude);
      return sum.value;
    };
    const double once = (by(kStep) - by(-kStep)) / (2 * kStep);
    const double twice = (by(2 * kStep) - by(-2 * kStep)) / (4 * kStep);
    at[i] = here;
    const double slope = (4 * once - twice) / 3;
    const double rounding = RoundingGrowth<double>(operations) * magnitude *
                            (4 / kStep + 1 / (2 * kStep)) / 3;
    const double within = rounding + kStep * std::abs(twice - once);
    if (!(std::abs(gradient[i] - slope) <= within)) {
      return static_cast<int64_t>(i);
    }
  }
  return -1;
}

// Expects that `gradient` is the gradient of `loss`. Also expects that
// WrongEntry finds an error planted in the last entry: 1/1000 of the largest
// entry.
inline void ExpectGradient(std::vector<double>& at,
                           const std::vector<double>& gradient, int operations,
                           const std::function<LossSum()>& loss) {
  EXPECT_EQ(WrongEntry(at, gradient, operations, loss), -1);
  std::vector<double> planted = gradient;
  double most = 0;
  for (const double entry : gradient) most = std::max(most, std::abs(entry));
  planted.back() += most / 1000;
  EXPECT_EQ(WrongEntry(at, planted, operations, loss),
            static_cast<int64_t>(planted.size()) - 1)
      << "planted";
}

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_FINITE_DIFFERENCE_H_
