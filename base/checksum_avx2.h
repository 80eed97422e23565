#ifndef MUSTER_BASE_CHECKSUM_AVX2_H_
#define MUSTER_BASE_CHECKSUM_AVX2_H_

#include <cstddef>

namespace muster {

// XXH3_64bits_update, compiled for a processor with AVX2: 1.6 times as fast as
// the same function of Debian's libxxhash.a, which uses SSE2 only, and with the
// same result. `state` points to an XXH3_state_t; the parameter's type is void
// because XXH_INLINE_ALL, which the implementation defines, renames
// XXH3_state_t.
void AddToXxh3WithAvx2(void* state, const void* data, size_t size);

}  // namespace muster

#endif  // MUSTER_BASE_CHECKSUM_AVX2_H_
