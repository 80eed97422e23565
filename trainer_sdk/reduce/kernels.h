#ifndef MUSTER_TRAINER_SDK_REDUCE_KERNELS_H_
#define MUSTER_TRAINER_SDK_REDUCE_KERNELS_H_

#include <cstdint>

#include "trainer_sdk/process_group/dtype.h"

namespace muster {

// The kernels for one kind of processor. Entries are indexed by DType and, if
// there are two indices, ReduceOp.
struct ReductionTable {
  // Does the same as Reduce, except that AVG divides by `divisor` instead of
  // the number of sources.
  using ReduceKernel = void (*)(const void* const* sources, int source_count,
                                void* const* destinations,
                                int destination_count, int64_t count,
                                int64_t divisor);
  ReduceKernel reduce[kDTypes][kReduceOps];

  // Conversions between 16-bit floats and float32.
  using WidenKernel = void (*)(const uint16_t* from, float* to, int64_t count);
  using NarrowKernel = void (*)(const float* from, uint16_t* to, int64_t count);
  WidenKernel widen_bfloat16;
  NarrowKernel narrow_bfloat16;
  WidenKernel widen_float16;
  NarrowKernel narrow_float16;
};

// Kernels for any processor.
const ReductionTable& BaselineReductions();

// Kernels for x86-64 with AVX2 and F16C; null if the processor lacks them.
const ReductionTable* Avx2Reductions();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_REDUCE_KERNELS_H_
