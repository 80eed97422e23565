#include "models/cuda/kernels/square_sum.h"

#include "models/cuda/kernels/kernel_case.h"

namespace muster::cuda {
namespace {

double Sum(const std::vector<float>& values) {
  std::vector<double> scratch(kSquareSumScratch, -1);
  double sum = -1;
  SquareSum(values.data(), static_cast<int64_t>(values.size()), scratch.data(),
            &sum, nullptr);
  return sum;
}

class CudaSquareSumTest
    : public testing::TestWithParam<emulation::ThreadOrder> {
 private:
  const emulation::ScopedThreadOrder order_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Orders, CudaSquareSumTest,
                         testing::Values(emulation::ThreadOrder::kForward,
                                         emulation::ThreadOrder::kBackward));

TEST_P(CudaSquareSumTest, OfAnyCount) {
  EXPECT_EQ(Sum({}), 0);
  EXPECT_EQ(Sum({3}), 9);
  // More values than threads, and not a multiple.
  std::vector<float> values(kSquareSumScratch * 256 + 777);
  double expected = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i % 11) - 5;
    expected += double{values[i]} * values[i];
  }
  EXPECT_EQ(Sum(values), expected);
}

TEST_P(CudaSquareSumTest, WhatIsNoNumberShows) {
  std::vector<float> values(1000, 1);
  values[777] = NAN;
  EXPECT_TRUE(std::isnan(Sum(values)));
  values[777] = INFINITY;
  EXPECT_TRUE(std::isinf(Sum(values)));
  // Its square exceeds float32.
  values[777] = 1e30f;
  // The ones vanish beside it.
  EXPECT_EQ(Sum(values), double{1e30f} * 1e30f);
}

}  // namespace
}  // namespace muster::cuda
