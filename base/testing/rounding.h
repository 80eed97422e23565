#ifndef MUSTER_BASE_TESTING_ROUNDING_H_
#define MUSTER_BASE_TESTING_ROUNDING_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace muster {

// Functions that bound how far two results of the same computation differ, if
// both are correct except for rounding. The bound is twice RoundingGrowth times
// the condition number, as in tests/compat/rounding.py. The condition number of
// a result is the change of the result divided by the relative change of the
// values that it is computed from (see Condition). For a sum it is the sum of
// the terms' magnitudes. A test that uses a bound also checks that a planted
// defect exceeds the bound.

// The unit roundoff of type T: no rounding has a larger relative error.
template <typename T>
inline constexpr double kUnitRoundoff = std::numeric_limits<T>::epsilon() / 2;
// The unit roundoff of bfloat16, which has 8 significant bits.
inline constexpr double kBfloat16Roundoff = 0x1p-8;

// Returns a bound for the relative error of `operations` roundings in a row. It
// is the smaller one of two bounds:
// - The worst case, in which all errors add up (Higham, Accuracy and Stability
//   of Numerical Algorithms, 2002, chapter 3).
// - Eight standard deviations of a sum of independent errors. One standard
//   deviation is sqrt(operations / 3) roundoffs. The probability that a sum
//   exceeds eight of them is 1e-15 (Higham and Mary, 2019).
inline double RoundingGrowth(double operations, double unit_roundoff) {
  return std::min(operations, 8 * std::sqrt(operations / 3)) * unit_roundoff;
}

template <typename T>
double RoundingGrowth(double operations) {
  return RoundingGrowth(operations, kUnitRoundoff<T>);
}

// The bound for the difference of two results of type T, each computed with
// `operations` roundings in sequence. `condition`: the condition number, from
// the function Condition or, for a sum, the sum of the terms' magnitudes.
template <typename T>
double RoundingBound(double operations, double condition) {
  return 2 * RoundingGrowth<T>(operations) * condition;
}

// The largest absolute difference between elements with the same index in two
// lists; NaN if an element is NaN, or if the lists have different lengths.
template <typename A, typename B>
double Distance(const std::vector<A>& a, const std::vector<B>& b) {
  double most = a.size() == b.size() ? 0 : std::nan("");
  for (size_t i = 0; i < a.size() && !std::isnan(most); ++i) {
    const double apart = std::abs(static_cast<double>(a[i]) - b[i]);
    if (!(apart <= most)) most = apart;
  }
  return most;
}

// A small random relative error for numerical tests: multiplies each element of
// a tensor by 1 + kSize or 1 - kSize, at random (Parker, Monte Carlo
// Arithmetic, 1997). A default-constructed object changes nothing.
class Disturbance {
 public:
  static constexpr double kSize = 0x1p-20;

  Disturbance() = default;
  explicit Disturbance(uint64_t seed) : size_(kSize), engine_(seed) {}

  double operator()(double value) {
    return (engine_() & 1) != 0 ? value * (1 + size_) : value * (1 - size_);
  }
  void operator()(std::vector<double>& values) {
    for (double& value : values) value = (*this)(value);
  }

 private:
  double size_ = 0;
  std::mt19937_64 engine_;
};

// A computation under test. It changes its inputs and intermediate results by
// `disturb`, which makes small random errors, and returns its output tensors.
using Disturbed =
    std::function<std::vector<std::vector<double>>(Disturbance disturb)>;

// Returns the condition number of each output tensor of `compute`: the largest
// change of an element under a Disturbance, divided by Disturbance::kSize.
inline std::vector<double> Condition(const Disturbed& compute) {
  const std::vector<std::vector<double>> exact = compute(Disturbance());
  std::vector<double> conditions(exact.size());
  for (const uint64_t seed : {1, 2, 3, 4}) {
    const auto changed = compute(Disturbance(seed));
    for (size_t i = 0; i < exact.size(); ++i) {
      conditions[i] = std::max(
          conditions[i], Distance(changed[i], exact[i]) / Disturbance::kSize);
    }
  }
  return conditions;
}

// The output tensors of a reference computation, with their condition numbers.
// The outputs of another implementation are compared with them. The reference
// may itself compute in float32.
class RoundingReference {
 public:
  explicit RoundingReference(const Disturbed& compute)
      : lists_(compute(Disturbance())), conditions_(Condition(compute)) {}

  const std::vector<std::vector<double>>& lists() const { return lists_; }
  const std::vector<double>& conditions() const { return conditions_; }

  // Compares the tensors of `got` with the reference. Returns the index of the
  // first tensor that differs by more than `growth` times its condition number
  // (see Condition); -1: none.
  template <typename Element>
  int ListBeyond(double growth,
                 const std::vector<std::vector<Element>>& got) const {
    if (got.size() != lists_.size()) return 0;
    for (size_t i = 0; i < got.size(); ++i) {
      if (!(Distance(got[i], lists_[i]) <= growth * conditions_[i])) {
        return static_cast<int>(i);
      }
    }
    return -1;
  }

  // Compares the tensors of `got` with the reference. Returns the index of the
  // first tensor whose difference exceeds RoundingBound for `operations`
  // roundings in sequence in type T; -1: none.
  template <typename T, typename Element>
  int WrongList(double operations,
                const std::vector<std::vector<Element>>& got) const {
    return ListBeyond(2 * RoundingGrowth<T>(operations), got);
  }

 private:
  std::vector<std::vector<double>> lists_;
  std::vector<double> conditions_;
};

}  // namespace muster

#endif  // MUSTER_BASE_TESTING_ROUNDING_H_
