#ifndef MUSTER_TRAINER_SDK_KERNELS_BEST_KERNELS_H_
#define MUSTER_TRAINER_SDK_KERNELS_BEST_KERNELS_H_

#include "trainer_sdk/kernels/kernel_table.h"

namespace muster {

// The fastest that this processor has. T: float, double.
template <typename T>
const KernelTable<T>& BestKernels();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_KERNELS_BEST_KERNELS_H_
