#include "trainer_sdk/reduce/kernels.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace muster {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Format {
  std::string name;
  int exponent_bits;
  int mantissa_bits;
};

// The value of a bit pattern in a 16-bit float format, computed from the
// definition of binary floating-point formats.
double Meaning(const Format& format, uint16_t bits) {
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  const int exponent =
      (bits >> format.mantissa_bits) & ((1 << format.exponent_bits) - 1);
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << format.exponent_bits) - 1) {
    return mantissa == 0 ? sign * kInfinity : std::nan("");
  }
  const int unit = std::max(exponent, 1) - bias - format.mantissa_bits;
  const int hidden = exponent == 0 ? 0 : 1 << format.mantissa_bits;
  return sign * std::ldexp(mantissa + hidden, unit);
}

class Conversions : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) {
      if (Avx2Reductions() == nullptr) GTEST_SKIP() << "no AVX2 or F16C here";
      kernels_ = Avx2Reductions();
    }
  }

  std::vector<uint16_t> Narrow(const Format& format,
                               const std::vector<float>& values) {
    std::vector<uint16_t> narrow(values.size());
    (format.exponent_bits == 8 ? kernels_->narrow_bfloat16
                               : kernels_->narrow_float16)(
        values.data(), narrow.data(), static_cast<int64_t>(values.size()));
    return narrow;
  }

  std::vector<float> Widen(const Format& format,
                           const std::vector<uint16_t>& values) {
    std::vector<float> wide(values.size());
    (format.exponent_bits == 8 ? kernels_->widen_bfloat16
                               : kernels_->widen_float16)(
        values.data(), wide.data(), static_cast<int64_t>(values.size()));
    return wide;
  }

  const ReductionTable* kernels_ = &BaselineReductions();
};

const Format kFormats[] = {{"bfloat16", 8, 7}, {"float16", 5, 10}};

std::vector<uint16_t> AllBits() {
  std::vector<uint16_t> all(1 << 16);
  for (int bits = 0; bits < 1 << 16; ++bits) {
    all[bits] = static_cast<uint16_t>(bits);
  }
  return all;
}

TEST_P(Conversions, EveryValueMeansWhatItsBitsSay) {
  for (const Format& format : kFormats) {
    const std::vector<float> wide = Widen(format, AllBits());
    for (int bits = 0; bits < 1 << 16; ++bits) {
      const double meaning = Meaning(format, static_cast<uint16_t>(bits));
      if (std::isnan(meaning)) {
        ASSERT_TRUE(std::isnan(wide[bits])) << format.name << " " << bits;
      } else {
        ASSERT_EQ(wide[bits], meaning) << format.name << " " << bits;
        ASSERT_EQ(std::signbit(wide[bits]), (bits & 0x8000) != 0);
      }
    }
  }
}

TEST_P(Conversions, EveryValueComesBackUnchanged) {
  for (const Format& format : kFormats) {
    const std::vector<uint16_t> back = Narrow(format, Widen(format, AllBits()));
    for (int bits = 0; bits < 1 << 16; ++bits) {
      const uint16_t before = static_cast<uint16_t>(bits);
      if (std::isnan(Meaning(format, before))) {
        const int quiet = 1 << (format.mantissa_bits - 1);
        ASSERT_EQ(back[bits], before | quiet) << format.name << " " << bits;
      } else {
        ASSERT_EQ(back[bits], before) << format.name << " " << bits;
      }
    }
  }
}

// Tests three values between every two neighbouring 16-bit numbers: just below
// the middle, the middle itself, and just above the middle.
TEST_P(Conversions, RoundsToNearestEven) {
  for (const Format& format : kFormats) {
    const int infinity = ((1 << format.exponent_bits) - 1)
                         << format.mantissa_bits;
    for (const int sign : {0, 0x8000}) {
      std::vector<float> values;
      std::vector<uint16_t> expected;
      for (int low = 0; low < infinity; ++low) {
        const double a = Meaning(format, static_cast<uint16_t>(low));
        // The value of the 16-bit number that follows `a`. If that number is
        // infinity, use instead `a` plus the distance from the previous number
        // to `a`: rounding treats infinity like this value.
        const double b =
            low + 1 == infinity
                ? 2 * a - Meaning(format, static_cast<uint16_t>(low - 1))
                : Meaning(format, static_cast<uint16_t>(low + 1));
        const float middle = static_cast<float>((a + b) / 2);
        // Skip the middle of two neighbours if float32 cannot represent it.
        if (middle != (a + b) / 2) continue;
        const int even = (low & 1) == 0 ? low : low + 1;
        const float up = sign != 0 ? -1.0F : 1.0F;
        values.push_back(up * std::nextafter(middle, 0.0F));
        expected.push_back(static_cast<uint16_t>(sign | low));
        values.push_back(up * middle);
        expected.push_back(static_cast<uint16_t>(sign | even));
        values.push_back(up * std::nextafter(middle, kInfinity));
        expected.push_back(static_cast<uint16_t>(sign | (low + 1)));
      }
      const std::vector<uint16_t> narrow = Narrow(format, values);
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(narrow[i], expected[i]) << format.name << " " << values[i];
      }
    }
  }
}

TEST_P(Conversions, FarValuesBecomeInfinityOrZero) {
  for (const Format& format : kFormats) {
    const uint16_t infinity = static_cast<uint16_t>(
        ((1 << format.exponent_bits) - 1) << format.mantissa_bits);
    EXPECT_EQ(Narrow(format,
                     {std::numeric_limits<float>::max(), kInfinity, -kInfinity,
                      0.0F, -0.0F, std::numeric_limits<float>::denorm_min()}),
              (std::vector<uint16_t>{infinity, infinity,
                                     static_cast<uint16_t>(infinity | 0x8000),
                                     0, 0x8000, 0}))
        << format.name;
  }
}

// A NaN must stay a NaN, even if only bits that the conversion cuts off
// distinguish it from infinity.
TEST_P(Conversions, NoNanBecomesInfinity) {
  for (const uint32_t bits : {0x7f800001u, 0xff800001u, 0x7fffffffu}) {
    float nan;
    std::memcpy(&nan, &bits, sizeof(nan));
    for (const Format& format : kFormats) {
      const std::vector<uint16_t> narrow =
          Narrow(format, std::vector<float>(9, nan));
      for (const uint16_t one : narrow) {
        EXPECT_TRUE(std::isnan(Meaning(format, one))) << format.name;
        EXPECT_EQ(one & 0x8000, bits >> 16 & 0x8000);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Conversions, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& one) {
                           return one.param ? "Avx2" : "Baseline";
                         });

// The kernels for all kinds of processors must compute the same bits.
TEST(KernelTables, Agree) {
  if (Avx2Reductions() == nullptr) GTEST_SKIP() << "no AVX2 or F16C here";
  constexpr int kCount = 1037;
  constexpr int kSources = 3;
  for (int dtype = 0; dtype < kDTypes; ++dtype) {
    for (int op = 0; op < kReduceOps; ++op) {
      for (int sources = 1; sources <= kSources; ++sources) {
        const int64_t size = SizeOf(static_cast<DType>(dtype));
        std::vector<std::vector<uint64_t>> data(kSources);
        uint64_t state = 88172645463325252u;
        const void* from[kSources];
        for (int i = 0; i < kSources; ++i) {
          data[i].resize(kCount);
          for (uint64_t& word : data[i]) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            // Random bits without infinities and NaNs: in every 16 bits, set
            // bits 12 to 14 to 0. In each floating-point type, these bits
            // include bits of the exponent. NaNs are avoided because the
            // kernels may give a NaN different payloads.
            word = state & 0xbfffbfffbfffbfffu & ~0x7000700070007000u;
          }
          from[i] = data[i].data();
        }
        std::vector<uint64_t> a(kCount, 1);
        std::vector<uint64_t> b(kCount, 1);
        void* to[] = {a.data()};
        BaselineReductions().reduce[dtype][op](from, sources, to, 1, kCount, 3);
        to[0] = b.data();
        Avx2Reductions()->reduce[dtype][op](from, sources, to, 1, kCount, 3);
        EXPECT_EQ(a, b) << Name(static_cast<DType>(dtype)) << " "
                        << Name(static_cast<ReduceOp>(op)) << " " << sources;
        EXPECT_NE(std::memcmp(a.data(), std::vector<uint64_t>(kCount, 1).data(),
                              kCount * size),
                  0);
      }
    }
  }
}

}  // namespace
}  // namespace muster
