#ifndef MUSTER_MODELS_KERNELS_BEST_KERNELS_H_
#define MUSTER_MODELS_KERNELS_BEST_KERNELS_H_

#include "base/processor_kind.h"
#include "models/kernels/kernel_table.h"

namespace muster::models {

// The kernels for one kind of processor, which this processor must support. T:
// float, double.
template <typename T>
const KernelTable<T>& KernelsOf(ProcessorKind kind);

// The kernels for ChosenProcessorKind().
template <typename T>
const KernelTable<T>& BestKernels();

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_BEST_KERNELS_H_
