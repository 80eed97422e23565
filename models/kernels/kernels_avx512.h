#ifndef MUSTER_MODELS_KERNELS_KERNELS_AVX512_H_
#define MUSTER_MODELS_KERNELS_KERNELS_AVX512_H_

#include "models/kernels/kernel_table.h"

namespace muster {

// For ProcessorKind::kAvx512; null where the compiler's target is no x86.
// T: float, double.
template <typename T>
const KernelTable<T>* Avx512Kernels();

}  // namespace muster

#endif  // MUSTER_MODELS_KERNELS_KERNELS_AVX512_H_
