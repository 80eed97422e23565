#ifndef MUSTER_TESTS_GPU_DEVICE_MEMORY_H_
#define MUSTER_TESTS_GPU_DEVICE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "trainer_sdk/nccl/cuda_driver.h"
#include "trainer_sdk/process_group/testing/conformance_subject.h"

namespace muster {

// GPU memory for the conformance suite of transports. Copies use CUDA's default
// stream. So Read waits for the operations that were enqueued before it.
class DeviceMemory final : public ConformanceMemory {
 public:
  // Opens device 0 of this process and makes it current on the calling thread.
  static absl::StatusOr<std::shared_ptr<DeviceMemory>> Open(
      const std::string& cuda_library);

  std::shared_ptr<void> Allocate(int64_t bytes) override;
  void Write(void* to, const void* from, int64_t bytes) override;
  void Read(void* to, const void* from, int64_t bytes) override;

  // Waits until all operations on the default stream have ended. Returns CUDA's
  // error number, 0 for success.
  int Synchronize() const { return synchronize_(nullptr); }

 private:
  DeviceMemory() = default;

  std::shared_ptr<const CudaDriver> cuda_;
  int (*to_device_)(uint64_t, const void*, size_t) = nullptr;
  int (*to_host_)(void*, uint64_t, size_t) = nullptr;
  int (*synchronize_)(nccl::CudaStream) = nullptr;
};

}  // namespace muster

#endif  // MUSTER_TESTS_GPU_DEVICE_MEMORY_H_
