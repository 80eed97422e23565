#ifndef MUSTER_TRAINER_SDK_KERNELS_KERNELS_BASELINE_H_
#define MUSTER_TRAINER_SDK_KERNELS_KERNELS_BASELINE_H_

#include "trainer_sdk/kernels/kernel_table.h"

namespace muster {

// For any processor. T: float, double.
template <typename T>
const KernelTable<T>& BaselineKernels();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_KERNELS_KERNELS_BASELINE_H_
