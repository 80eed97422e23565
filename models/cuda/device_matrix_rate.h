#ifndef MUSTER_MODELS_CUDA_DEVICE_MATRIX_RATE_H_
#define MUSTER_MODELS_CUDA_DEVICE_MATRIX_RATE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "models/cuda/device.h"
#include "models/cuda/product.h"

namespace muster::cuda {

// FLOP/s of products of square matrices of `size` rows on the device, the best
// of several runs: what else it does may be compared with that. Waits for the
// device, which has no other notes meanwhile. ResourceExhausted: its memory is
// full.
absl::StatusOr<double> MeasureDeviceMatrixRate(Device& device, ElementType type,
                                               int64_t size);

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_DEVICE_MATRIX_RATE_H_
