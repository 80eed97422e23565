#ifndef MUSTER_MODELS_CUDA_KERNELS_ELEMENT_H_
#define MUSTER_MODELS_CUDA_KERNELS_ELEMENT_H_

#include <cstring>

#include "models/cuda/kernels/bfloat16.h"
#include "models/cuda/kernels/execution.h"

// For kernel sources only: the elements of tensors, and conversions to and from
// float32, in which all arithmetic is done.

namespace muster::cuda {

__device__ inline float ToFloat(float value) { return value; }

__device__ inline float ToFloat(Bfloat16 value) {
  const uint32_t bits = static_cast<uint32_t>(value.bits) << 16;
  float wide;
  memcpy(&wide, &bits, sizeof(wide));
  return wide;
}

// Rounds to nearest, ties to even. Any NaN becomes the GPU's canonical NaN.
__device__ inline Bfloat16 Narrowed(float value) {
  Bfloat16 narrow;
#ifdef __CUDACC__
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(value));
#else
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  bits += 0x7fff + (bits >> 16 & 1);
  narrow.bits = value == value ? static_cast<uint16_t>(bits >> 16) : 0x7fff;
#endif
  return narrow;
}

__device__ inline void Put(float value, float* to) { *to = value; }
__device__ inline void Put(float value, Bfloat16* to) { *to = Narrowed(value); }

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_ELEMENT_H_
