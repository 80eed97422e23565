#ifndef MUSTER_TRAINER_SDK_CUDA_EXECUTION_H_
#define MUSTER_TRAINER_SDK_CUDA_EXECUTION_H_

#include <cstdint>
#include <type_traits>

#include "trainer_sdk/cuda/cuda_types.h"

#ifndef __CUDACC__
#include "trainer_sdk/cuda/emulation/cuda_emulation.h"
#include "trainer_sdk/cuda/emulation/shared_array.h"
#endif

namespace muster::cuda {

#ifdef __CUDACC__
// An array in GPU shared memory, declared as `__shared__ SharedArray<float, 8>
// name;`.
template <typename T, int size>
struct SharedArray {
  T values[size];
  __device__ T& operator[](int i) { return values[i]; }
};
#else
using ::muster::SharedArray;
#endif

// The sizes of a kernel's grid of thread blocks and of each block, both of one
// or two dimensions. At most 65535 blocks in y.
struct Grid {
  int64_t blocks = 1;
  int64_t blocks_y = 1;
  int threads = 1;
  int threads_y = 1;
};

constexpr int64_t DividedUp(int64_t count, int64_t by) {
  return (count + by - 1) / by;
}

// Launches a kernel on a stream (in tests, runs it in the emulation). Does
// nothing if the grid has no blocks. An error becomes CUDA's last error of the
// calling thread.
template <typename... Parameters>
void Launch(void (*kernel)(Parameters...), const Grid& grid,
            [[maybe_unused]] CudaStream stream,
            std::type_identity_t<Parameters>... arguments) {
  if (grid.blocks == 0 || grid.blocks_y == 0) return;
  const auto x = static_cast<unsigned>(grid.blocks);
  const auto y = static_cast<unsigned>(grid.blocks_y);
  const auto threads_x = static_cast<unsigned>(grid.threads);
  const auto threads_y = static_cast<unsigned>(grid.threads_y);
#ifdef __CUDACC__
  kernel<<<dim3(x, y), dim3(threads_x, threads_y), 0, stream>>>(arguments...);
#else
  emulation::BlockRun::RunGrid({x, y}, {threads_x, threads_y},
                               [&] { kernel(arguments...); });
#endif
}

}  // namespace muster::cuda

#endif  // MUSTER_TRAINER_SDK_CUDA_EXECUTION_H_
