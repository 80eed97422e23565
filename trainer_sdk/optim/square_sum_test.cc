#include "trainer_sdk/optim/square_sum.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "base/testing/rounding.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

double SumOf(const std::vector<float>& values) {
  SquareSum sum;
  sum.Add(values.data(), static_cast<int64_t>(values.size()));
  return SquareSum::Value(sum.words());
}

// Returns random values with magnitudes from 2^-60 to 2^20.
std::vector<float> Mixed(size_t count) {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<float> mantissa(-1, 1);
  std::uniform_int_distribution<int> exponent(-60, 20);
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) {
    values.push_back(std::ldexp(mantissa(engine), exponent(engine)));
  }
  return values;
}

TEST(SquareSumTest, IsExact) {
  EXPECT_EQ(SumOf({}), 0);
  EXPECT_EQ(SumOf({0.0f, -0.0f}), 0);
  EXPECT_EQ(SumOf({3, -4}), 25);
  const float most = std::numeric_limits<float>::max();
  EXPECT_EQ(SumOf({most}), double{most} * most);
  EXPECT_EQ(SumOf({most, -most, most, most}), 4 * (double{most} * most));
  const float least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(SumOf({least}), double{least} * least);
  const float normal = std::numeric_limits<float>::min();
  EXPECT_EQ(SumOf({normal}), double{normal} * normal);
  EXPECT_EQ(SumOf({normal, normal / 2}), 1.25 * (double{normal} * normal));
  // The first element's square is 1e18, where neighbouring doubles differ by
  // 128. So a simple sum in double would lose the square of each 1 added to it.
  std::vector<float> values(1 << 10, 1.0f);
  values.insert(values.begin(), 1e9f);
  EXPECT_EQ(SumOf(values), double{1e9f} * 1e9f + 1024);
}

TEST(SquareSumTest, IsWithinTheRoundingOfAPlainSum) {
  const std::vector<float> values = Mixed(10000);
  double plain = 0;
  for (const float value : values) plain += double{value} * value;
  // The bound for the difference between `plain` and the result of SumOf, both
  // sums of squares. Each square of a float is exact in double. In `plain` each
  // addition is rounded; SumOf adds exactly and rounds once at the end.
  const double bound = RoundingBound<double>(10000, plain);
  EXPECT_NEAR(SumOf(values), plain, bound);
  // The bound must be smaller than the largest square. Otherwise a sum that
  // lacks this square would be within the bound, and the test would not see it.
  const float most = *std::max_element(values.begin(), values.end());
  EXPECT_GT(double{most} * most, bound);
}

TEST(SquareSumTest, ManyEqualElementsDoNotOverflow) {
  // All elements have the same exponent and the largest mantissa, so they are
  // all added to the same partial sums (SquareSum::sums_), which must not
  // overflow.
  const float value = std::nextafter(2.0f, 0.0f);
  const std::vector<float> values(300000, value);
  EXPECT_EQ(SumOf(values), 300000 * (double{value} * value));
}

TEST(SquareSumTest, OrderAndPartsMakeNoDifference) {
  std::vector<float> values = Mixed(200003);
  const double expected = SumOf(values);
  std::shuffle(values.begin(), values.end(), std::mt19937_64(3));
  EXPECT_EQ(SumOf(values), expected);
  SquareSum::Words words{};
  for (const auto& [begin, end] :
       {std::pair(0, 1), std::pair(1, 70001), std::pair(70001, 200003)}) {
    SquareSum part;
    for (int at = begin; at < end; at += 1000) {
      part.Add(values.data() + at, std::min(1000, end - at));
    }
    const SquareSum::Words of_part = part.words();
    for (size_t i = 0; i < words.size(); ++i) words[i] += of_part[i];
  }
  EXPECT_EQ(SquareSum::Value(words), expected);
}

TEST(SquareSumTest, NonFiniteValueGivesNan) {
  const float infinite = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(SumOf({1, infinite, 2})));
  EXPECT_TRUE(std::isnan(SumOf({1, -infinite, infinite})));
  EXPECT_TRUE(std::isnan(SumOf({std::nanf("")})));
}

TEST(SquareSumTest, TakesSixteenBitElements) {
  // For each 16-bit type: the type, and the bit patterns of 1.5 and of -2. The
  // tested array has 3000 elements of each of these two values.
  for (const auto& [type, first, second] :
       {std::tuple(DType::kBFloat16, uint16_t{0x3fc0}, uint16_t{0xc000}),
        std::tuple(DType::kFloat16, uint16_t{0x3e00}, uint16_t{0xc000})}) {
    std::vector<uint16_t> values;
    for (int i = 0; i < 3000; ++i) {
      values.push_back(first);
      values.push_back(second);
    }
    SquareSum sum;
    sum.Add(TensorData(values.data(), 6000, type));
    EXPECT_EQ(SquareSum::Value(sum.words()), 3000 * 6.25);
  }
}

}  // namespace
}  // namespace muster
