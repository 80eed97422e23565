#ifndef MUSTER_TRAINER_SDK_CUDA_CUDA_TYPES_H_
#define MUSTER_TRAINER_SDK_CUDA_CUDA_TYPES_H_

#include <cstdint>

// Repeats the declarations of CUDA's headers, so that this file compiles on a
// machine without CUDA.
struct CUstream_st;
struct CUevent_st;

namespace muster {

// The same type as CUDA's cudaStream_t, so a function with a CudaStream
// parameter has the same mangled C++ name as one with a cudaStream_t. Null is
// the default stream.
using CudaStream = ::CUstream_st*;
// The same type as CUDA's cudaEvent_t, so a function with a CudaEvent parameter
// has the same mangled C++ name as one with a cudaEvent_t.
using CudaEvent = ::CUevent_st*;

// A bfloat16 number as in cuBLAS and NCCL: the upper half of a float32.
struct Bfloat16 {
  uint16_t bits;
};

// A float16 number as in NCCL: IEEE 754 binary16.
struct Float16 {
  uint16_t bits;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CUDA_CUDA_TYPES_H_
