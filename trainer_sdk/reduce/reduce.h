#ifndef MUSTER_TRAINER_SDK_REDUCE_REDUCE_H_
#define MUSTER_TRAINER_SDK_REDUCE_REDUCE_H_

#include <cstdint>

#include "trainer_sdk/process_group/dtype.h"

namespace muster {

// Elementwise reductions of arrays in this process's memory. Thread-safe: no
// state. Buffers are aligned to their elements. The same on every machine, bit
// for bit, but for the payload of a NaN that two NaNs made.
//
//   float32, float64  IEEE, no fused multiply-add
//   bfloat16, float16 computed in float32 over all sources and rounded once,
//                     to nearest even
//   integers          wrap around
//   MIN, MAX          NaN if any source is NaN; of +0 and -0 the later source
//   AVG               SUM, divided by the number of sources before it is
//                     rounded; an integer's quotient is truncated towards zero

// Reduces `sources[0]`, `sources[1]`, … in this order, element by element, and
// writes the result to each of `destinations`: one pass over memory. A
// destination may be one of the sources; otherwise nothing overlaps.
// Needs source_count >= 1; with no destination nothing happens.
void Reduce(DType dtype, ReduceOp op, const void* const* sources,
            int source_count, void* const* destinations, int destination_count,
            int64_t count);

// destination = destination op source. AVG adds: the caller divides at the end
// (Divide). bfloat16 and float16 are rounded each time, so that several
// sources at once are both faster and more exact with Reduce.
void Accumulate(DType dtype, ReduceOp op, void* destination, const void* source,
                int64_t count);

// Between float32 and bfloat16 or float16, rounded to nearest even.
void Narrow(const float* from, DType type, void* to, int64_t count);
void Widen(DType type, const void* from, float* to, int64_t count);

// data = data / divisor, as AVG does it. Needs divisor >= 1.
void Divide(DType dtype, void* data, int64_t count, int64_t divisor);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_REDUCE_REDUCE_H_
