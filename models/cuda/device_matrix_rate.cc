#include "models/cuda/device_matrix_rate.h"

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "models/cuda/device.h"
#include "trainer_sdk/reduce/reduce.h"

namespace muster::models::cuda {
namespace {

// Fills a matrix with numbers in [-1, 1): makes one row and copies it. Zeros
// would be unrealistic: a GPU needs less power to multiply them, and is faster
// than in training.
void FillWithNumbers(Device& device, ElementType type, int64_t size, char* to) {
  std::mt19937 random(1);
  std::vector<float> numbers(static_cast<size_t>(size));
  for (float& number : numbers) {
    number = static_cast<float>(static_cast<int32_t>(random())) * 0x1p-31f;
  }
  const int64_t row = size * SizeOf(type);
  if (type == ElementType::kFloat32) {
    device.CopyIn(to, numbers.data(), row);
  } else {
    std::vector<uint16_t> rounded(numbers.size());
    Narrow(numbers.data(), DType::kBFloat16, rounded.data(), size);
    device.CopyIn(to, rounded.data(), row);
  }
  const int64_t all = size * row;
  for (int64_t filled = row; filled < all; filled *= 2) {
    device.Copy(to + filled, to, std::min(filled, all - filled));
  }
}

}  // namespace

absl::StatusOr<double> MeasureDeviceMatrixRate(Device& device, ElementType type,
                                               int64_t size) {
  constexpr int kRuns = 5;
  constexpr int kProducts = 4;
  const int64_t bytes = size * size * SizeOf(type);
  DeviceArrays arrays(device);
  char* const a = arrays.Add<char>(bytes);
  char* const b = arrays.Add<char>(bytes);
  char* const c = arrays.Add<char>(bytes);
  if (!arrays.status().ok()) return arrays.status();
  FillWithNumbers(device, type, size, a);
  FillWithNumbers(device, type, size, b);
  const auto square = [&](const char* data) {
    return Matrix{type, data, size, size, size, 0};
  };
  // Indices of the device's time stamps (Device::Mark) at the beginning and at
  // the end of each run of products. Run 0 does not count, because the library
  // chooses its algorithm during that run.
  std::vector<int> begins;
  std::vector<int> ends;
  for (int run = 0; run <= kRuns; ++run) {
    begins.push_back(device.Mark(Device::Stream::kCompute));
    for (int i = 0; i < kProducts; ++i) {
      device.Multiply({.a = square(a), .b = square(b), .result = square(c)});
    }
    ends.push_back(device.Mark(Device::Stream::kCompute));
  }
  const std::vector<Duration> marks = device.ReadMarks();
  if (absl::Status status = device.status(); !status.ok()) return status;
  double best = 0;
  for (int run = 1; run <= kRuns; ++run) {
    const double seconds =
        ToSeconds(marks[static_cast<size_t>(ends[static_cast<size_t>(run)])] -
                  marks[static_cast<size_t>(begins[static_cast<size_t>(run)])]);
    const auto n = static_cast<double>(size);
    if (seconds > 0) best = std::max(best, kProducts * 2 * n * n * n / seconds);
  }
  return best;
}

}  // namespace muster::models::cuda
