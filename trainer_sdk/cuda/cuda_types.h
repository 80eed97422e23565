#ifndef MUSTER_TRAINER_SDK_CUDA_CUDA_TYPES_H_
#define MUSTER_TRAINER_SDK_CUDA_CUDA_TYPES_H_

#include <cstdint>

// Declared as in CUDA's headers, so that a machine without them can compile
// this.
struct CUstream_st;
struct CUevent_st;

namespace muster {

// cudaStream_t, with the same name for the linker; null is the default stream.
using CudaStream = ::CUstream_st*;
// cudaEvent_t, with the same name for the linker.
using CudaEvent = ::CUevent_st*;

// The upper half of a float32, as bfloat16 in cuBLAS and NCCL.
struct Bfloat16 {
  uint16_t bits;
};

// IEEE's binary16, as float16 in NCCL.
struct Float16 {
  uint16_t bits;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CUDA_CUDA_TYPES_H_
