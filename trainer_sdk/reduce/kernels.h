#ifndef MUSTER_TRAINER_SDK_REDUCE_KERNELS_H_
#define MUSTER_TRAINER_SDK_REDUCE_KERNELS_H_

#include <cstdint>

#include "trainer_sdk/process_group/dtype.h"

namespace muster {

// The reduction and conversion functions (kernels) for one kind of processor.
// `reduce` is indexed by DType and ReduceOp.
struct ReductionTable {
  // Reduces arrays as the function Reduce (reduce.h) does, except that AVG
  // divides by `divisor` instead of the number of sources.
  using ReduceKernel = void (*)(const void* const* sources, int source_count,
                                void* const* destinations,
                                int destination_count, int64_t count,
                                int64_t divisor);
  ReduceKernel reduce[kDTypes][kReduceOps];

  // The types of the functions that convert a 16-bit float type to float32
  // (WidenKernel) and back (NarrowKernel).
  using WidenKernel = void (*)(const uint16_t* from, float* to, int64_t count);
  using NarrowKernel = void (*)(const float* from, uint16_t* to, int64_t count);
  WidenKernel widen_bfloat16;
  NarrowKernel narrow_bfloat16;
  WidenKernel widen_float16;
  NarrowKernel narrow_float16;
};

// The kernels that run on any processor.
const ReductionTable& BaselineReductions();

// The kernels for x86-64 with AVX2 and F16C; null if this processor lacks AVX2
// or F16C.
const ReductionTable* Avx2Reductions();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_REDUCE_KERNELS_H_
