#ifndef MUSTER_MODELS_CUDA_TESTING_EMULATED_DEVICE_H_
#define MUSTER_MODELS_CUDA_TESTING_EMULATED_DEVICE_H_

#include <cstdint>
#include <memory>

#include "models/cuda/device.h"

namespace muster::models::cuda {

// The emulated GPU of trainer_sdk, with matrix products by OpenBLAS in float32.
class EmulatedDevice : public Device {
 public:
  // Makes a device on which allocations beyond a total of `max_bytes` fail.
  explicit EmulatedDevice(int64_t max_bytes = int64_t{1} << 40);

  absl::StatusOr<std::shared_ptr<void>> Allocate(int64_t bytes) override;

 private:
  int64_t left_;
};

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_TESTING_EMULATED_DEVICE_H_
