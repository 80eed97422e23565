#include "models/kernels/kernel_table.h"

#include "base/check.h"

namespace muster::models {

template <typename T>
const KernelTable<T>& KernelsOf(ProcessorKind kind) {
  const KernelTable<T>* table = &BaselineKernels<T>();
  if (kind == ProcessorKind::kAvx2) table = Avx2Kernels<T>();
  if (kind == ProcessorKind::kAvx512) table = Avx512Kernels<T>();
  MUSTER_CHECK(table != nullptr) << "no kernels of kind " << Name(kind);
  return *table;
}

template <typename T>
const KernelTable<T>& BestKernels() {
  static const KernelTable<T>& best = KernelsOf<T>(ChosenProcessorKind());
  return best;
}

template const KernelTable<float>& KernelsOf<float>(ProcessorKind);
template const KernelTable<double>& KernelsOf<double>(ProcessorKind);
template const KernelTable<float>& BestKernels<float>();
template const KernelTable<double>& BestKernels<double>();

}  // namespace muster::models
