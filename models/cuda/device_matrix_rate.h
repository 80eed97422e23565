#ifndef MUSTER_MODELS_CUDA_DEVICE_MATRIX_RATE_H_
#define MUSTER_MODELS_CUDA_DEVICE_MATRIX_RATE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "models/cuda/device.h"

namespace muster::models::cuda {

// The FLOP/s of products of square matrices with `size` rows on the device, the
// best of several runs; used as a reference for other rates. Blocks. No other
// marks may be set on the device meanwhile. ResourceExhausted: not enough
// device memory.
absl::StatusOr<double> MeasureDeviceMatrixRate(Device& device, ElementType type,
                                               int64_t size);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_DEVICE_MATRIX_RATE_H_
