#ifndef MUSTER_MODELS_CUDA_CUDA_DEVICE_H_
#define MUSTER_MODELS_CUDA_CUDA_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/cuda/cublas_lt.h"
#include "models/cuda/cublas_products.h"
#include "models/cuda/device.h"

namespace muster::models::cuda {

// A GPU, used by CUDA's runtime and cuBLASLt. It must be the current device of
// every thread that uses this object.
class CudaDevice final : public Device {
 public:
  // Opens device `ordinal` of those visible to this process, from 0. NotFound:
  // there is no cuBLASLt. Unavailable: there is no driver or no GPU, or a CUDA
  // call failed; names the call and its message.
  static absl::StatusOr<std::unique_ptr<CudaDevice>> Open(int ordinal);
  // The number of devices visible to this process; 0 without a driver.
  static int Count();
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  absl::StatusOr<std::shared_ptr<void>> Allocate(int64_t bytes) override;
  CudaStream stream() const override { return stream_; }
  CudaStream side_stream() const override { return side_stream_; }
  void WaitForOther(Stream stream) override;
  void CopyIn(void* to, const void* from, int64_t bytes) override;
  void CopyOut(void* to, const void* from, int64_t bytes) override;
  using Device::Copy;
  using Device::Zero;
  void Copy(Stream stream, void* to, const void* from, int64_t bytes) override;
  void Zero(Stream stream, void* at, int64_t bytes) override;
  void Multiply(const Product& product) override;
  void Wait() override;
  int Mark(Stream stream) override;
  std::vector<Duration> ReadMarks() override;
  absl::Status status() override;

 private:
  CudaDevice() = default;
  absl::Status Prepare(int ordinal);
  // Records an error, unless there was one before.
  void Note(absl::Status status);

  absl::Status status_;
  // Whether the device reads host memory through the host's page tables, as
  // Grace Hopper does.
  int reads_in_place_ = 0;
  CudaStream stream_ = nullptr;
  CudaStream side_stream_ = nullptr;
  CudaEvent reached_ = nullptr;
  // Events of Mark, which are reused; the first marked_ are in use.
  std::vector<CudaEvent> marks_;
  size_t marked_ = 0;
  std::shared_ptr<void> workspace_;
  std::unique_ptr<CublasProducts> products_;
};

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_CUDA_DEVICE_H_
