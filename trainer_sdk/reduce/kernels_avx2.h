#ifndef MUSTER_TRAINER_SDK_REDUCE_KERNELS_AVX2_H_
#define MUSTER_TRAINER_SDK_REDUCE_KERNELS_AVX2_H_

#include "trainer_sdk/reduce/kernel_table.h"

namespace muster {

// Kernels for x86-64 with AVX2 and F16C; null if the processor lacks them.
const ReductionTable* Avx2Reductions();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_REDUCE_KERNELS_AVX2_H_
