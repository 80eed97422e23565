#ifndef MUSTER_TRAINER_SDK_REDUCE_KERNELS_BASELINE_H_
#define MUSTER_TRAINER_SDK_REDUCE_KERNELS_BASELINE_H_

#include "trainer_sdk/reduce/kernel_table.h"

namespace muster {

// Kernels for any processor.
const ReductionTable& BaselineReductions();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_REDUCE_KERNELS_BASELINE_H_
