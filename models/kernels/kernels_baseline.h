#ifndef MUSTER_MODELS_KERNELS_KERNELS_BASELINE_H_
#define MUSTER_MODELS_KERNELS_KERNELS_BASELINE_H_

#include "models/kernels/kernel_table.h"

namespace muster::models {

// The kernels for any processor. T: float, double.
template <typename T>
const KernelTable<T>& BaselineKernels();

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_KERNELS_BASELINE_H_
