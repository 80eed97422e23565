#include "base/checksum_avx2.h"

// clang, which builds the fuzzers, skips this file's code: clang has no #pragma
// GCC target.
#if defined(__x86_64__) && !defined(__clang__)

// The C headers that xxhash.h needs are included here, before the pragma
// push_options. Everything between push_options and pop_options is compiled for
// AVX2, and other files also use the inline functions of these headers. The
// functions of xxhash.h itself are static (XXH_INLINE_ALL), so no other file
// can call their AVX2 versions.
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#pragma GCC push_options
#pragma GCC target("avx2,tune=haswell")
#include <immintrin.h>
#define XXH_INLINE_ALL
// the value of XXH_AVX2 in xxhash.h: use AVX2 instructions
#define XXH_VECTOR 2
#include <xxhash.h>

namespace muster {

void AddToXxh3WithAvx2(void* state, const void* data, size_t size) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state), data, size);
}

}  // namespace muster

#pragma GCC pop_options

#else

#include <xxhash.h>

namespace muster {

void AddToXxh3WithAvx2(void* state, const void* data, size_t size) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state), data, size);
}

}  // namespace muster

#endif
