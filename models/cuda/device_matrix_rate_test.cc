#include "models/cuda/device_matrix_rate.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "models/cuda/testing/emulated_device.h"

namespace muster::models::cuda {
namespace {

// A device whose time stamps (Mark) advance by one millisecond with each
// product.
class TimedDevice final : public EmulatedDevice {
 public:
  void Multiply(const Product& product) override {
    ++products_;
    last = product;
    EmulatedDevice::Multiply(product);
    if (product.result.type != ElementType::kFloat32) return;
    const auto* const result = static_cast<const float*>(product.result.data);
    ends_not_zero =
        result[0] != 0 &&
        result[product.result.rows * product.result.columns - 1] != 0;
  }
  int Mark(Stream) override {
    notes_.emplace_back(products_ * std::chrono::milliseconds(1));
    return static_cast<int>(notes_.size()) - 1;
  }
  std::vector<Duration> ReadMarks() override { return notes_; }

  Product last;
  bool ends_not_zero = false;

 private:
  int products_ = 0;
  std::vector<Duration> notes_;
};

TEST(DeviceMatrixRateTest, CountsTwoOperationsForEachTerm) {
  TimedDevice device;
  const auto rate = MeasureDeviceMatrixRate(device, ElementType::kFloat32, 24);
  ASSERT_TRUE(rate.ok()) << rate.status();
  EXPECT_EQ(*rate, 2.0 * 24 * 24 * 24 / 1e-3);
  EXPECT_TRUE(device.ends_not_zero);
}

TEST(DeviceMatrixRateTest, MultipliesWhatItIsAskedFor) {
  TimedDevice device;
  ASSERT_TRUE(MeasureDeviceMatrixRate(device, ElementType::kBfloat16, 20).ok());
  EXPECT_EQ(device.last.a.type, ElementType::kBfloat16);
  EXPECT_EQ(device.last.result.type, ElementType::kBfloat16);
  EXPECT_EQ(device.last.a.rows, 20);
}

TEST(DeviceMatrixRateTest, FullMemoryIsResourceExhausted) {
  EmulatedDevice device(1000);
  EXPECT_EQ(MeasureDeviceMatrixRate(device, ElementType::kFloat32, 24)
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace muster::models::cuda
