#include "trainer_sdk/optim/square_sum.h"

#include <bit>
#include <cmath>
#include <limits>

#include "trainer_sdk/cuda/kernels.h"
#include "trainer_sdk/cuda/testing/kernel_case.h"

namespace muster::cuda {
namespace {

using Words = muster::SquareSum::Words;

Words Sum(TensorData values, Words words = {}) {
  AddSquares(values.data, values.dtype, values.count, words.data(), nullptr);
  muster::SquareSum::Carry(&words);
  return words;
}

Words OnTheHost(TensorData values) {
  muster::SquareSum sum;
  sum.Add(values);
  return sum.words();
}

class CudaSquareSumTest
    : public testing::TestWithParam<emulation::ThreadOrder> {
 private:
  const emulation::ScopedThreadOrder order_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Orders, CudaSquareSumTest,
                         testing::Values(emulation::ThreadOrder::kForward,
                                         emulation::ThreadOrder::kBackward));

TEST_P(CudaSquareSumTest, IsTheExactSumOfTheHost) {
  std::vector<float> none;
  EXPECT_EQ(Sum(none), Words{});
  std::vector<float> one = {3};
  EXPECT_EQ(muster::SquareSum::Value(Sum(one)), 9);
  // Numbers of all magnitudes, including subnormal numbers, for several thread
  // blocks.
  std::vector<float> values;
  for (uint32_t i = 0; i < 5000; ++i) {
    values.push_back(std::bit_cast<float>((i * 858993u) & 0x7f7fffffu));
  }
  EXPECT_EQ(Sum(values), OnTheHost(values));
  EXPECT_EQ(Sum(values, Sum(one)), [&] {
    muster::SquareSum sum;
    sum.Add(values);
    sum.Add(one);
    return sum.words();
  }());
}

TEST_P(CudaSquareSumTest, ShortFloatsAreWidened) {
  std::vector<uint16_t> values;
  for (uint16_t i = 0; i < 300; ++i) values.push_back(i * 97 & 0x7bff);
  for (const DType type : {DType::kBFloat16, DType::kFloat16}) {
    const TensorData view(values.data(), 300, type);
    EXPECT_EQ(Sum(view), OnTheHost(view)) << Name(type);
  }
}

TEST_P(CudaSquareSumTest, NonFiniteValueGivesNan) {
  std::vector<float> values(1000, 1);
  for (const float none : {NAN, INFINITY, -INFINITY}) {
    values[777] = none;
    EXPECT_TRUE(std::isnan(muster::SquareSum::Value(Sum(values))));
  }
  // The square of this value is beyond the range of float32, so a kernel that
  // squares in float32 would give infinity.
  values[777] = 1e30f;
  // The sum is the square of the large value, about 1e60. The other 999
  // elements are 1; their squares are too small to change a double of this
  // size.
  EXPECT_EQ(muster::SquareSum::Value(Sum(values)), double{1e30f} * 1e30f);
}

}  // namespace
}  // namespace muster::cuda
