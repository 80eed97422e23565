#include "trainer_sdk/kernels/kernels_baseline.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "trainer_sdk/kernels/exponential.h"
#include "trainer_sdk/kernels/sums.h"

namespace muster {
namespace {

constexpr int kVectorBytes = 32;

#include "trainer_sdk/kernels/kernels.inc"

}  // namespace

template <>
const KernelTable<float>& BaselineKernels<float>() {
  return kKernels<float>;
}

template <>
const KernelTable<double>& BaselineKernels<double>() {
  return kKernels<double>;
}

}  // namespace muster
