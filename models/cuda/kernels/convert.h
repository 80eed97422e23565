#ifndef MUSTER_MODELS_CUDA_KERNELS_CONVERT_H_
#define MUSTER_MODELS_CUDA_KERNELS_CONVERT_H_

#include <cstdint>

#include "models/cuda/kernels/cuda_stream.h"
#include "trainer_sdk/process_group/dtype.h"

namespace muster::models::cuda {

// Copies `count` elements of type `from_type` to elements of `to_type`, each
// rounded to `precision`, to nearest, ties to even. The types: float32,
// bfloat16, float16. Buffers may be the same if the types are.
void Convert(const void* from, DType from_type, int64_t count, void* to,
             DType to_type, DType precision, CudaStream stream);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_CONVERT_H_
