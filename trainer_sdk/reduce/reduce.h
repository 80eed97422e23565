#ifndef MUSTER_TRAINER_SDK_REDUCE_REDUCE_H_
#define MUSTER_TRAINER_SDK_REDUCE_REDUCE_H_

#include <cstdint>

#include "trainer_sdk/process_group/dtype.h"

namespace muster {

// Elementwise reductions of arrays in host memory. Thread-safe, because the
// functions have no state. Buffers must be aligned to their elements. Results
// are bit-identical on every machine, except for the payload of a NaN that
// results from two NaNs.
//
//   float32, float64  IEEE arithmetic, no fused multiply-add
//   bfloat16, float16 computed in float32 over all sources and rounded once, to
//                     nearest, ties to even
//   integers          overflow wraps around
//   MIN, MAX          NaN if any source is NaN; of +0 and -0, the later source
//   AVG               SUM divided by the number of sources; for bfloat16 and
//                     float16, the division is in float32, before the
//                     rounding; an integer quotient is truncated towards zero

// Reduces `sources[0]`, `sources[1]`, … in this order, element by element, and
// writes the result to each of `destinations`, in one pass over memory. A
// destination may be one of the sources; otherwise buffers must not overlap.
// source_count must be at least 1. Does nothing without a destination.
void Reduce(DType dtype, ReduceOp op, const void* const* sources,
            int source_count, void* const* destinations, int destination_count,
            int64_t count);

// Computes destination = destination op source. AVG only adds; the caller
// divides at the end (Divide). bfloat16 and float16 are rounded in each call,
// so for several sources Reduce is both faster and more exact.
void Accumulate(DType dtype, ReduceOp op, void* destination, const void* source,
                int64_t count);

// Narrow converts float32 to a 16-bit type, bfloat16 or float16, rounding to
// nearest, ties to even. Widen converts back.
void Narrow(const float* from, DType type, void* to, int64_t count);
void Widen(DType type, const void* from, float* to, int64_t count);

// Divides every element of `data` by `divisor`, with the rounding of AVG.
// `divisor` must be at least 1.
void Divide(DType dtype, void* data, int64_t count, int64_t divisor);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_REDUCE_REDUCE_H_
