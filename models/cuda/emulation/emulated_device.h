#ifndef MUSTER_MODELS_CUDA_EMULATION_EMULATED_DEVICE_H_
#define MUSTER_MODELS_CUDA_EMULATION_EMULATED_DEVICE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "models/cuda/device.h"

namespace muster::models::cuda {

// The device for emulated kernels: host memory, synchronous execution, and
// products by OpenBLAS in float32. New memory is filled with NaNs.
class EmulatedDevice : public Device {
 public:
  // Allocations beyond a total of `max_bytes` fail.
  explicit EmulatedDevice(int64_t max_bytes = int64_t{1} << 40)
      : left_(max_bytes) {}

  absl::StatusOr<std::shared_ptr<void>> Allocate(int64_t bytes) override;
  CudaStream stream() const override { return nullptr; }
  CudaStream side_stream() const override { return nullptr; }
  void WaitForOther(Stream) override {}
  void CopyIn(void* to, const void* from, int64_t bytes) override;
  void CopyOut(void* to, const void* from, int64_t bytes) override;
  using Device::Copy;
  using Device::Zero;
  void Copy(Stream stream, void* to, const void* from, int64_t bytes) override;
  void Zero(Stream stream, void* at, int64_t bytes) override;
  void Multiply(const Product& product) override;
  void Wait() override {}
  int Mark(Stream stream) override;
  std::vector<Duration> ReadMarks() override;
  absl::Status status() override { return absl::OkStatus(); }

 private:
  int64_t left_;
  // Times of the host's clock, because all work is synchronous.
  std::vector<Instant> marks_;
};

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_EMULATION_EMULATED_DEVICE_H_
