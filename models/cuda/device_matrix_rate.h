#ifndef MUSTER_MODELS_CUDA_DEVICE_MATRIX_RATE_H_
#define MUSTER_MODELS_CUDA_DEVICE_MATRIX_RATE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "models/cuda/device.h"

namespace muster::models::cuda {

// Measures the FLOP/s of products of square matrices with `size` rows on the
// device, and returns the best of several runs. This result is the peak FLOP/s
// for MFU (model FLOPs utilisation). Blocks. The caller must not use the
// device's time stamps (Device::Mark) meanwhile. ResourceExhausted: not enough
// device memory.
absl::StatusOr<double> MeasureDeviceMatrixRate(Device& device, ElementType type,
                                               int64_t size);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_DEVICE_MATRIX_RATE_H_
