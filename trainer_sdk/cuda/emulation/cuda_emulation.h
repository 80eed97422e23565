#ifndef MUSTER_TRAINER_SDK_CUDA_EMULATION_CUDA_EMULATION_H_
#define MUSTER_TRAINER_SDK_CUDA_EMULATION_CUDA_EMULATION_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <source_location>
#include <type_traits>

#include "trainer_sdk/cuda/emulation/block_run.h"

// Emulates the execution model of CUDA C++ as far as the kernels need it. The
// kernels' sources compile with this header and a C++ compiler and run on the
// CPU, where tests can check every access. block_run.h lists the errors that
// the emulation detects. The emulation does not show a kernel's speed, races
// between blocks, memory ordering, or the rounding of a GPU's mathematical
// functions.

#define __global__
#define __device__
#define __shared__ static thread_local

// The indices of the thread and the block that are running, and the sizes of
// block and grid.
#define threadIdx (::muster::emulation::BlockRun::Current().thread())
#define blockIdx (::muster::emulation::BlockRun::Current().block())
#define blockDim (::muster::emulation::BlockRun::Current().threads())
#define gridDim (::muster::emulation::BlockRun::Current().blocks())

inline void __syncthreads(
    std::source_location here = std::source_location::current()) {
  ::muster::emulation::BlockRun::Current().Barrier(here);
}

// Emulates CUDA's atomicAdd. An ordinary addition is enough: thread blocks run
// one after another, and the emulation switches threads only at barriers and
// warp exchanges.
inline unsigned long long atomicAdd(unsigned long long* address,
                                    unsigned long long value) {
  const unsigned long long before = *address;
  *address += value;
  return before;
}

// Emulates __shfl_xor_sync, in which the lanes of a warp exchange values, for
// whole warps only: `mask` must have the bits of all 32 lanes.
template <typename T>
T __shfl_xor_sync(uint32_t mask, T value, int lane_mask,
                  std::source_location here = std::source_location::current()) {
  static_assert(sizeof(T) == sizeof(uint32_t) || sizeof(T) == sizeof(uint64_t));
  using Bits =
      std::conditional_t<sizeof(T) == sizeof(uint32_t), uint32_t, uint64_t>;
  return std::bit_cast<T>(
      static_cast<Bits>(::muster::emulation::BlockRun::Current().Exchange(
          mask, std::bit_cast<Bits>(value), lane_mask, here)));
}

#endif  // MUSTER_TRAINER_SDK_CUDA_EMULATION_CUDA_EMULATION_H_
