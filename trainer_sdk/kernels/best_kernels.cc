#include "trainer_sdk/kernels/best_kernels.h"

#include "trainer_sdk/kernels/kernels_avx2.h"
#include "trainer_sdk/kernels/kernels_baseline.h"

namespace muster {

template <typename T>
const KernelTable<T>& BestKernels() {
  static const KernelTable<T>& best =
      Avx2Kernels<T>() != nullptr ? *Avx2Kernels<T>() : BaselineKernels<T>();
  return best;
}

template const KernelTable<float>& BestKernels<float>();
template const KernelTable<double>& BestKernels<double>();

}  // namespace muster
