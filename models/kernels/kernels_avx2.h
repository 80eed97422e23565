#ifndef MUSTER_MODELS_KERNELS_KERNELS_AVX2_H_
#define MUSTER_MODELS_KERNELS_KERNELS_AVX2_H_

#include "models/kernels/kernel_table.h"

namespace muster {

// For ProcessorKind::kAvx2; null where the compiler's target is no x86.
// T: float, double.
template <typename T>
const KernelTable<T>* Avx2Kernels();

}  // namespace muster

#endif  // MUSTER_MODELS_KERNELS_KERNELS_AVX2_H_
