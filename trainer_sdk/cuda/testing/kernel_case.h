#ifndef MUSTER_TRAINER_SDK_CUDA_TESTING_KERNEL_CASE_H_
#define MUSTER_TRAINER_SDK_CUDA_TESTING_KERNEL_CASE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/testing/rounding.h"
#include "gtest/gtest.h"
#include "trainer_sdk/cuda/cuda_types.h"
#include "trainer_sdk/cuda/emulation/block_run.h"
#include "trainer_sdk/reduce/reduce.h"

namespace muster {

// The parameters of a typed test of a kernel: the kernel's element type, and
// the order in which the emulated threads run.
template <typename T, emulation::ThreadOrder thread_order>
struct KernelCase {
  using Element = T;
  static constexpr emulation::ThreadOrder kOrder = thread_order;
};

using KernelCases =
    testing::Types<KernelCase<float, emulation::ThreadOrder::kForward>,
                   KernelCase<float, emulation::ThreadOrder::kBackward>,
                   KernelCase<Bfloat16, emulation::ThreadOrder::kForward>,
                   KernelCase<Bfloat16, emulation::ThreadOrder::kBackward>>;

template <typename Case>
class KernelTest : public testing::Test {
 public:
  using Element = typename Case::Element;

  // Returns the values rounded to the kernel's element type.
  static std::vector<Element> Narrowed(const std::vector<float>& values) {
    std::vector<Element> narrow(values.size());
    if constexpr (std::is_same_v<Element, float>) {
      narrow = values;
    } else {
      Narrow(values.data(), DType::kBFloat16, narrow.data(),
             static_cast<int64_t>(values.size()));
    }
    return narrow;
  }

  static std::vector<float> Widened(const std::vector<Element>& values) {
    std::vector<float> wide(values.size());
    if constexpr (std::is_same_v<Element, float>) {
      wide = values;
    } else {
      Widen(DType::kBFloat16, values.data(), wide.data(),
            static_cast<int64_t>(values.size()));
    }
    return wide;
  }

  // Returns `count` pseudo-random numbers between -size and size that the
  // kernel's element type can represent.
  static std::vector<float> Numbers(int64_t count, int seed, float size = 1) {
    std::vector<float> numbers;
    for (int64_t i = 0; i < count; ++i) {
      numbers.push_back(
          size *
          static_cast<float>(std::sin(
              1.0 + 12.9898 * static_cast<double>(i * i + 1) + 78.233 * seed)));
    }
    return Widened(Narrowed(numbers));
  }

  // Returns the values rounded to float32.
  static std::vector<float> Floats(const std::vector<double>& values) {
    return {values.begin(), values.end()};
  }

  // The results of a kernel (`values`), and the largest relative error that
  // rounding to the element type adds to a result (`last_roundoff`). For
  // float32 this error is 0.
  struct Found {
    std::vector<float> values;
    double last_roundoff = 0;
  };

  static Found FoundOf(const std::vector<Element>& values) {
    return {Widened(values),
            std::is_same_v<Element, float> ? 0 : kBfloat16Roundoff};
  }

  // Expects that `found` differs only by rounding from the results that `exact`
  // computes. The allowed difference is that of `operations` successive
  // roundings to float32 and one rounding to the results' type. Also checks
  // that the allowed difference is small enough to reject results that are
  // multiplied by a slightly wrong factor.
  static void ExpectRounded(const std::vector<Found>& found, double operations,
                            const Disturbed& exact) {
    const RoundingReference reference(exact);
    ASSERT_EQ(found.size(), reference.lists().size());
    for (size_t i = 0; i < found.size(); ++i) {
      SCOPED_TRACE(i);
      const std::vector<double>& expected = reference.lists()[i];
      const double bound =
          RoundingBound<float>(operations, reference.conditions()[i]);
      EXPECT_EQ(WrongElement(found[i], expected, bound), -1);
      if (std::count(expected.begin(), expected.end(), 0) ==
          std::ssize(expected)) {
        continue;
      }
      Found planted = found[i];
      for (float& value : planted.values) {
        value *= 1.001f + 4 * static_cast<float>(planted.last_roundoff);
      }
      EXPECT_NE(WrongElement(planted, expected, bound), -1) << "planted";
    }
  }

 private:
  // The index of the first element that differs from its expected value by more
  // than the bound; -1: none.
  static int64_t WrongElement(const Found& found,
                              const std::vector<double>& expected,
                              double bound) {
    if (found.values.size() != expected.size()) return 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      const double limit =
          bound + found.last_roundoff * (std::abs(expected[i]) + bound);
      if (!(std::abs(found.values[i] - expected[i]) <= limit)) {
        return static_cast<int64_t>(i);
      }
    }
    return -1;
  }

  const emulation::ScopedThreadOrder order_{Case::kOrder};
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CUDA_TESTING_KERNEL_CASE_H_
