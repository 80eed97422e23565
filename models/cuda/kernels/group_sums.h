#ifndef MUSTER_MODELS_CUDA_KERNELS_GROUP_SUMS_H_
#define MUSTER_MODELS_CUDA_KERNELS_GROUP_SUMS_H_

#include "models/cuda/kernels/execution.h"

// For kernel sources only: sums and maxima over the threads of a warp or a
// block. All threads get the result; the order of additions is fixed.

namespace muster::models::cuda {

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffff;

template <typename T>
__device__ T WarpSum(T value) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, step);
  }
  return value;
}

__device__ inline float WarpMax(float value) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, step));
  }
  return value;
}

// For all threads of a block with `warps` warps in x and size 1 in y. `line`
// may be reused at once.
template <typename T, int warps>
__device__ T BlockSum(T value, SharedArray<T, warps>& line) {
  value = WarpSum(value);
  __syncthreads();
  if (threadIdx.x % kWarp == 0) line[threadIdx.x / kWarp] = value;
  __syncthreads();
  T sum = 0;
  for (int i = 0; i < warps; ++i) sum += line[i];
  return sum;
}

template <int warps>
__device__ float BlockMax(float value, SharedArray<float, warps>& line) {
  value = WarpMax(value);
  __syncthreads();
  if (threadIdx.x % kWarp == 0) line[threadIdx.x / kWarp] = value;
  __syncthreads();
  float most = line[0];
  for (int i = 1; i < warps; ++i) most = fmaxf(most, line[i]);
  return most;
}

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_GROUP_SUMS_H_
