#ifndef MUSTER_MODELS_KERNELS_KERNELS_AVX2_H_
#define MUSTER_MODELS_KERNELS_KERNELS_AVX2_H_

#include "models/kernels/kernel_table.h"

namespace muster::models {

// The kernels for ProcessorKind::kAvx2; null if the target is not x86. T:
// float, double.
template <typename T>
const KernelTable<T>* Avx2Kernels();

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_KERNELS_AVX2_H_
