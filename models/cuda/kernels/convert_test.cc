#include "models/cuda/kernels/convert.h"

#include <bit>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "trainer_sdk/reduce/reduce.h"

namespace muster::cuda {
namespace {

TEST(CudaConvertTest, AsTheReductionsDoIt) {
  std::vector<float> values;
  // All bfloat16 values, and float32 values below, at and above the middle
  // between two of them.
  for (uint32_t upper = 0; upper < 0x10000; upper += 37) {
    for (const uint32_t lower : {0x0u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      values.push_back(std::bit_cast<float>(upper << 16 | lower));
    }
  }
  values.push_back(std::numeric_limits<float>::infinity());
  const auto count = static_cast<int64_t>(values.size());
  std::vector<Bfloat16> narrow(values.size());
  Narrow(values.data(), count, narrow.data(), nullptr);
  std::vector<uint16_t> expected(values.size());
  muster::Narrow(values.data(), DType::kBFloat16, expected.data(), count);
  for (size_t i = 0; i < values.size(); ++i) {
    // Any NaN is accepted.
    if (values[i] != values[i]) {
      EXPECT_GT(narrow[i].bits & 0x7fff, 0x7f80);
    } else {
      ASSERT_EQ(narrow[i].bits, expected[i]) << values[i];
    }
  }
  std::vector<float> wide(values.size());
  Widen(narrow.data(), count, wide.data(), nullptr);
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::bit_cast<uint32_t>(wide[i]), uint32_t{narrow[i].bits} << 16);
  }
}

TEST(CudaConvertTest, NothingAtAll) {
  Narrow(nullptr, 0, nullptr, nullptr);
  Widen(nullptr, 0, nullptr, nullptr);
}

}  // namespace
}  // namespace muster::cuda
