#ifndef MUSTER_TRAINER_SDK_KERNELS_KERNELS_AVX512_H_
#define MUSTER_TRAINER_SDK_KERNELS_KERNELS_AVX512_H_

#include "trainer_sdk/kernels/kernel_table.h"

namespace muster {

// For ProcessorKind::kAvx512; null where the compiler's target is no x86.
// T: float, double.
template <typename T>
const KernelTable<T>* Avx512Kernels();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_KERNELS_KERNELS_AVX512_H_
