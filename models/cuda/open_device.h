#ifndef MUSTER_MODELS_CUDA_OPEN_DEVICE_H_
#define MUSTER_MODELS_CUDA_OPEN_DEVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "models/cuda/device.h"

namespace muster::models::cuda {

// Opens the GPU `ordinal`, counted from 0 among those visible to this process.
// The device multiplies matrices with cuBLASLt. The program must link the
// kernels and CUDA's runtime. NotFound: there is no cuBLASLt. Unavailable:
// CudaDevice::Prepare failed.
absl::StatusOr<std::unique_ptr<Device>> OpenDevice(int ordinal);
// The number of GPUs visible to this process; 0 without a driver.
int CountDevices();

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_OPEN_DEVICE_H_
