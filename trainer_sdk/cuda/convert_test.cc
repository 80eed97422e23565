#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "trainer_sdk/cuda/kernels.h"
#include "trainer_sdk/device/device.h"

namespace muster::cuda {
namespace {

// Float32 numbers with many different upper 16 bits. Their lower bits place
// them just below, at and just above the middle between two neighbouring
// bfloat16 or float16 numbers.
std::vector<float> Values() {
  std::vector<float> values;
  for (uint32_t upper = 0; upper < 0x10000; upper += 37) {
    for (const uint32_t lower : {0x0u, 0xfffu, 0x1000u, 0x1001u, 0x3000u,
                                 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      values.push_back(std::bit_cast<float>(upper << 16 | lower));
    }
  }
  values.push_back(std::numeric_limits<float>::infinity());
  return values;
}

// Whether element `i` has the same bits in both arrays, or is NaN in both.
bool Same(DType type, const void* a, const void* b, size_t i) {
  float wide[2];
  const void* const both[] = {a, b};
  for (int n = 0; n < 2; ++n) {
    const auto* const at = static_cast<const char*>(both[n]) +
                           static_cast<int64_t>(i) * SizeOf(type);
    HostDevice().Convert(muster::Device::Stream::kCompute,
                         {const_cast<char*>(at), 1, type},
                         {&wide[n], 1, DType::kFloat32}, DType::kFloat32);
  }
  return std::isnan(wide[0]) ? std::isnan(wide[1])
                             : std::bit_cast<uint32_t>(wide[0]) ==
                                   std::bit_cast<uint32_t>(wide[1]);
}

TEST(CudaConvertTest, AsTheHostDoesIt) {
  std::vector<float> values = Values();
  const auto count = static_cast<int64_t>(values.size());
  for (const DType type : {DType::kBFloat16, DType::kFloat16}) {
    std::vector<uint16_t> narrow(values.size());
    std::vector<uint16_t> expected(values.size());
    const auto compare = [&](DType as, const void* found, const void* wanted) {
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_TRUE(Same(as, found, wanted, i)) << Name(type) << values[i];
      }
    };
    constexpr auto kStream = muster::Device::Stream::kCompute;
    Convert(values.data(), DType::kFloat32, count, narrow.data(), type, type,
            nullptr);
    HostDevice().Convert(kStream, values, {expected.data(), count, type}, type);
    compare(type, narrow.data(), expected.data());
    std::vector<float> wide(values.size());
    std::vector<float> expected_wide(values.size());
    Convert(narrow.data(), type, count, wide.data(), DType::kFloat32,
            DType::kFloat32, nullptr);
    HostDevice().Convert(kStream, {narrow.data(), count, type}, expected_wide,
                         DType::kFloat32);
    compare(DType::kFloat32, wide.data(), expected_wide.data());
    // With a 16-bit `precision`, Convert rounds float32 values to that
    // precision but keeps them in float32. Input and output are the same buffer
    // here.
    std::vector<float> rounded = values;
    Convert(rounded.data(), DType::kFloat32, count, rounded.data(),
            DType::kFloat32, type, nullptr);
    compare(DType::kFloat32, rounded.data(), wide.data());
  }
}

TEST(CudaConvertTest, NothingAtAll) {
  Convert(nullptr, DType::kFloat32, 0, nullptr, DType::kBFloat16,
          DType::kBFloat16, nullptr);
}

}  // namespace
}  // namespace muster::cuda
