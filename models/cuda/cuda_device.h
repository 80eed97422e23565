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

namespace muster::cuda {

// A GPU by CUDA's runtime and cuBLASLt. It is the current device of the threads
// that use it.
class CudaDevice final : public Device {
 public:
  // Device `ordinal` of those that this process sees, from 0. NotFound: there
  // is no cuBLASLt. Unavailable: there is no driver; or CUDA's call and its
  // words, also where there is no GPU.
  static absl::StatusOr<std::unique_ptr<CudaDevice>> Open(int ordinal);
  // Of those that this process sees; 0 where there is no driver.
  static int Count();
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  absl::StatusOr<std::shared_ptr<void>> Allocate(int64_t bytes) override;
  CudaStream stream() const override { return stream_; }
  CudaStream side_stream() const override { return side_stream_; }
  void SideWaitsForMain() override;
  void MainWaitsForSide() override;
  void CopyIn(void* to, const void* from, int64_t bytes) override;
  void CopyOut(void* to, const void* from, int64_t bytes) override;
  void Copy(void* to, const void* from, int64_t bytes) override;
  void Zero(void* at, int64_t bytes) override;
  void Multiply(const Product& product) override;
  void Wait() override;
  int Mark(StreamName stream) override;
  std::vector<Duration> ReadMarks() override;
  absl::Status status() override;

 private:
  CudaDevice() = default;
  absl::Status Prepare(int ordinal);
  // What comes on `later` waits for what is on `earlier`.
  void Order(CudaStream earlier, CudaStream later);
  // Keeps the first error.
  void Note(absl::Status status);

  absl::Status status_;
  // Whether the device reads the host's memory by the host's page tables, as
  // Grace Hopper does.
  int reads_in_place_ = 0;
  CudaStream stream_ = nullptr;
  CudaStream side_stream_ = nullptr;
  CudaEvent reached_ = nullptr;
  // Those of Mark, which go round; the first marked_ are taken.
  std::vector<CudaEvent> marks_;
  size_t marked_ = 0;
  std::shared_ptr<void> workspace_;
  std::unique_ptr<CublasProducts> products_;
};

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_CUDA_DEVICE_H_
