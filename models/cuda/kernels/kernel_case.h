#ifndef MUSTER_MODELS_CUDA_KERNELS_KERNEL_CASE_H_
#define MUSTER_MODELS_CUDA_KERNELS_KERNEL_CASE_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "models/cuda/emulation/block_run.h"
#include "models/cuda/kernels/bfloat16.h"
#include "trainer_sdk/reduce/reduce.h"

namespace muster::cuda {

// The parameters of each kernel's test: the element type, and the order of the
// emulated threads.
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

  // Rounds to the kernel's type.
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

  // Pseudo-random numbers between -size and size, representable in the kernel's
  // type.
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

  // Within the accuracy of float32, plus `rounding` for results of the kernel's
  // type.
  static void ExpectNear(const std::vector<float>& found,
                         const std::vector<float>& expected,
                         float rounding = 0) {
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      const float size = std::fabs(expected[i]);
      ASSERT_NEAR(found[i], expected[i],
                  1e-5f * std::fmax(1.0f, size) + rounding * size)
          << "element " << i;
    }
  }

  static void ExpectElements(const std::vector<Element>& found,
                             const std::vector<float>& expected) {
    // Half of bfloat16's last place; or a full place, if the float32 results
    // differ in their last place.
    ExpectNear(Widened(found), expected,
               std::is_same_v<Element, float> ? 0 : 1.0f / 256);
  }

 private:
  const emulation::ScopedThreadOrder order_{Case::kOrder};
};

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_KERNEL_CASE_H_
