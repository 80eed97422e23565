#ifndef MUSTER_MODELS_CUDA_KERNELS_SHORT_FLOATS_H_
#define MUSTER_MODELS_CUDA_KERNELS_SHORT_FLOATS_H_

#include <cstdint>

namespace muster::models::cuda {

// The upper half of a float32, as bfloat16 in cuBLAS and NCCL.
struct Bfloat16 {
  uint16_t bits;
};

// IEEE's binary16, as float16 in NCCL.
struct Float16 {
  uint16_t bits;
};

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_SHORT_FLOATS_H_
