#ifndef MUSTER_MODELS_CUDA_OPEN_DEVICE_H_
#define MUSTER_MODELS_CUDA_OPEN_DEVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "models/cuda/device.h"

namespace muster::models::cuda {

// Opens GPU `ordinal` of those visible to this process, from 0, with cuBLASLt's
// products. Kernels and CUDA's runtime are those that the program links.
// NotFound: there is no cuBLASLt. Unavailable: as CudaDevice::Prepare.
absl::StatusOr<std::unique_ptr<Device>> OpenDevice(int ordinal);
// The number of GPUs visible to this process; 0 without a driver.
int CountDevices();

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_OPEN_DEVICE_H_
