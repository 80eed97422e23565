#include "trainer_sdk/reduce/kernels.h"

#if defined(__x86_64__)

// Everything after the pragma below is compiled for AVX2. So no header with
// inline functions may be included after the pragma: the linker could use the
// AVX2 copy of an inline function for all callers.
#include <cstdint>
#include <cstring>
#pragma GCC push_options
#pragma GCC target("avx2,f16c,tune=haswell")
#include <immintrin.h>

#define MUSTER_REDUCE_F16C 1

namespace muster {
namespace {

#include "trainer_sdk/reduce/kernels.inc"

}  // namespace
}  // namespace muster

#pragma GCC pop_options

namespace muster {

const ReductionTable* Avx2Reductions() {
  static const bool supported =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
  return supported ? &kKernels : nullptr;
}

}  // namespace muster

#else

namespace muster {

const ReductionTable* Avx2Reductions() { return nullptr; }

}  // namespace muster

#endif
