#include "trainer_sdk/process_group/testing/element_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "trainer_sdk/process_group/element.h"

namespace muster {
namespace {

uint16_t Bits(double value, DType dtype) {
  uint16_t bits = 0;
  EncodeElement(value, dtype, &bits);
  return bits;
}

TEST(ElementValuesTest, HalfPrecisionHasItsPublishedBits) {
  EXPECT_EQ(Bits(1, DType::kFloat16), 0x3c00);
  EXPECT_EQ(Bits(-2, DType::kFloat16), 0xc000);
  EXPECT_EQ(Bits(65504, DType::kFloat16), 0x7bff);
  EXPECT_EQ(Bits(65520, DType::kFloat16), 0x7c00) << "infinity";
  EXPECT_EQ(Bits(std::ldexp(1, -14), DType::kFloat16), 0x0400);
  EXPECT_EQ(Bits(std::ldexp(1, -24), DType::kFloat16), 0x0001) << "subnormal";
  EXPECT_EQ(Bits(2049, DType::kFloat16), Bits(2048, DType::kFloat16))
      << "a tie goes to the even one";
  EXPECT_EQ(Bits(2051, DType::kFloat16), Bits(2052, DType::kFloat16));
}

TEST(ElementValuesTest, BrainFloatIsTheUpperHalfOfAFloat) {
  for (const float value : {1.0f, -3.5f, 1e-30f, 3e38f, 0.0f, 255.0f}) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    // Rounds a float to bfloat16: to nearest, ties to even.
    bits += 0x7fff + ((bits >> 16) & 1);
    EXPECT_EQ(Bits(value, DType::kBFloat16), bits >> 16) << value;
  }
}

TEST(ElementValuesTest, EverySixteenBitNumberComesBack) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (int bits = 0; bits < 0x10000; bits++) {
      const uint16_t from = static_cast<uint16_t>(bits);
      const double value = DecodeElement(dtype, &from);
      if (std::isnan(value)) continue;
      ASSERT_EQ(Bits(value, dtype), from) << value;
    }
  }
}

TEST(ElementValuesTest, ProductsOfEightRanksFitAnInt8) {
  for (uint64_t seed = 0; seed < 50; seed++) {
    for (int64_t i = 0; i < 50; i++) {
      double product = 1;
      for (int rank = 0; rank < 8; rank++) {
        product *= TestValue(seed, rank, i, ReduceOp::kProd);
      }
      EXPECT_LE(std::fabs(product), 64);
    }
  }
}

TEST(ElementValuesTest, AnIntegersAverageIsTruncated) {
  EXPECT_EQ(ReferenceReduction({-1, -2}, DType::kInt32, ReduceOp::kAvg), -1);
  EXPECT_EQ(ReferenceReduction({-1, -2}, DType::kFloat32, ReduceOp::kAvg),
            -1.5);
}

}  // namespace
}  // namespace muster
