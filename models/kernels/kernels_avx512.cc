#include <cmath>
#include <cstdint>
#include <cstring>

#include "models/kernels/kernel_table.h"

#if defined(__x86_64__)

// The compiler may use AVX-512 up to pop_options. All of this code is static,
// so that the linker cannot use it in files that must also run without AVX-512.
#pragma GCC push_options
#pragma GCC target("prefer-vector-width=512")
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,fma")

#include "models/kernels/sums.h"

namespace muster::models {
namespace {

constexpr int kVectorBytes = 64;

#include "models/kernels/kernels.inc"

}  // namespace
}  // namespace muster::models

#pragma GCC pop_options

namespace muster::models {

template <>
const KernelTable<float>* Avx512Kernels<float>() {
  return &kKernels<float>;
}

template <>
const KernelTable<double>* Avx512Kernels<double>() {
  return &kKernels<double>;
}

}  // namespace muster::models

#else

namespace muster::models {

template <>
const KernelTable<float>* Avx512Kernels<float>() {
  return nullptr;
}

template <>
const KernelTable<double>* Avx512Kernels<double>() {
  return nullptr;
}

}  // namespace muster::models

#endif
