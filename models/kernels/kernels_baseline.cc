#include <cmath>
#include <cstdint>
#include <cstring>

#include "models/kernels/kernel_table.h"
#include "models/kernels/sums.h"

namespace muster::models {
namespace {

constexpr int kVectorBytes = 32;

#include "models/kernels/kernels.inc"

}  // namespace

template <>
const KernelTable<float>& BaselineKernels<float>() {
  return kKernels<float>;
}

template <>
const KernelTable<double>& BaselineKernels<double>() {
  return kKernels<double>;
}

}  // namespace muster::models
