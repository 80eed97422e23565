#include "trainer_sdk/optim/gradient_norm.h"

#include <algorithm>
#include <cmath>

namespace muster {
namespace {

// The number of independent partial sums into which SumOfSquares divides its
// sum. The number is fixed, so that the order of additions is the same on every
// machine.
constexpr int64_t kLanes = 8;

}  // namespace

double SumOfSquares(const float* values, int64_t count) {
  double lanes[kLanes] = {};
  const int64_t whole = count - count % kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      lanes[lane] += value * value;
    }
  }
  for (int64_t i = whole; i < count; ++i) {
    lanes[i - whole] += double{values[i]} * values[i];
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

double ClipCoefficient(double sum_of_squares, double most) {
  const double coefficient = most / (std::sqrt(sum_of_squares) + 1e-6);
  // If `coefficient` is NaN, the comparison is false, so the result is NaN.
  // std::min(1.0, coefficient) would return 1 instead.
  return coefficient > 1 ? 1 : coefficient;
}

void Scale(float* values, int64_t count, double factor) {
  const auto by = static_cast<float>(factor);
  for (int64_t i = 0; i < count; ++i) values[i] *= by;
}

}  // namespace muster
