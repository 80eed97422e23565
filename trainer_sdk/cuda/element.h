#ifndef MUSTER_TRAINER_SDK_CUDA_ELEMENT_H_
#define MUSTER_TRAINER_SDK_CUDA_ELEMENT_H_

#include <cstring>

#include "trainer_sdk/cuda/cuda_types.h"
#include "trainer_sdk/cuda/execution.h"
#include "trainer_sdk/process_group/dtype.h"

// The element types of tensors and their conversions to and from float32, in
// which all arithmetic is done. Only for the source files of kernels.

namespace muster::cuda {

__device__ inline float ToFloat(float value) { return value; }

__device__ inline float ToFloat(Bfloat16 value) {
  const uint32_t bits = static_cast<uint32_t>(value.bits) << 16;
  float wide;
  memcpy(&wide, &bits, sizeof(wide));
  return wide;
}

__device__ inline float ToFloat(Float16 value) {
  float wide;
#ifdef __CUDACC__
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
#else
  _Float16 narrow;
  memcpy(&narrow, &value, sizeof(narrow));
  wide = static_cast<float>(narrow);
#endif
  return wide;
}

// Converts to bfloat16, rounding to nearest, ties to even. Any NaN becomes the
// GPU's canonical NaN.
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

// Converts to float16, rounding to nearest, ties to even. Numbers beyond the
// range of float16 become infinite.
__device__ inline Float16 NarrowedTo16(float value) {
  Float16 narrow;
#ifdef __CUDACC__
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(value));
#else
  const auto rounded = static_cast<_Float16>(value);
  memcpy(&narrow, &rounded, sizeof(narrow));
#endif
  return narrow;
}

__device__ inline void Put(float value, float* to) { *to = value; }
__device__ inline void Put(float value, Float16* to) {
  *to = NarrowedTo16(value);
}
__device__ inline void Put(float value, Bfloat16* to) { *to = Narrowed(value); }

// Returns `value`, rounded to the type `precision`: float32, bfloat16 or
// float16.
__device__ inline float Rounded(float value, DType precision) {
  if (precision == DType::kBFloat16) return ToFloat(Narrowed(value));
  if (precision == DType::kFloat16) return ToFloat(NarrowedTo16(value));
  return value;
}

// Calls `launch` with `data`, converted to a pointer to the element type
// `type`: float32, bfloat16 or float16.
template <typename Launches>
void WithElements(void* data, DType type, Launches launch) {
  if (type == DType::kBFloat16) {
    launch(static_cast<Bfloat16*>(data));
  } else if (type == DType::kFloat16) {
    launch(static_cast<Float16*>(data));
  } else {
    launch(static_cast<float*>(data));
  }
}

}  // namespace muster::cuda

#endif  // MUSTER_TRAINER_SDK_CUDA_ELEMENT_H_
