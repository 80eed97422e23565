#include <cmath>
#include <cstdint>
#include <cstring>

#include "models/kernels/kernel_table.h"

#if defined(__x86_64__)

// The compiler may use AVX2 up to pop_options. All of this code is static, so
// that the linker cannot use it in files that must also run without AVX2.
#pragma GCC push_options
#pragma GCC target("avx2,fma,tune=haswell")

#include "models/kernels/sums.h"

namespace muster::models {
namespace {

constexpr int kVectorBytes = 32;

#include "models/kernels/kernels.inc"

}  // namespace
}  // namespace muster::models

#pragma GCC pop_options

namespace muster::models {

template <>
const KernelTable<float>* Avx2Kernels<float>() {
  return &kKernels<float>;
}

template <>
const KernelTable<double>* Avx2Kernels<double>() {
  return &kKernels<double>;
}

}  // namespace muster::models

#else

namespace muster::models {

template <>
const KernelTable<float>* Avx2Kernels<float>() {
  return nullptr;
}

template <>
const KernelTable<double>* Avx2Kernels<double>() {
  return nullptr;
}

}  // namespace muster::models

#endif
