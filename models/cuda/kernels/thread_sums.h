#ifndef MUSTER_MODELS_CUDA_KERNELS_THREAD_SUMS_H_
#define MUSTER_MODELS_CUDA_KERNELS_THREAD_SUMS_H_

#include "trainer_sdk/cuda/element.h"
#include "trainer_sdk/cuda/execution.h"

// Sums and maxima over the threads of a warp, of a block, or of a block's
// columns. The order of additions is fixed. To be included by kernel sources
// only.

namespace muster::models::cuda {

using namespace ::muster::cuda;

// kWarp: the number of threads in a warp. WarpSum and WarpMax, below, compute a
// value over the threads of a warp, BlockSum and BlockMax over those of a
// block. Each of these threads gets the result.

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

// Sums the `value` of all threads of a block, which must have `warps` warps in
// x and size 1 in y. Every thread gets the sum. `line`: working memory; two
// successive calls may use the same `line` without a barrier between the calls.
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

// The functions below sum a matrix over its rows. Each thread block sums
// kTileColumns columns, over one part of the rows (kRowsOfPart rows).

constexpr int kTileColumns = 32;
constexpr int kTileRows = 8;
constexpr int64_t kRowsOfPart = 128;

using ColumnTile = SharedArray<float, kTileColumns * kTileRows>;

inline Grid TileGrid(int64_t rows, int64_t columns) {
  return {.blocks = DividedUp(columns, kTileColumns),
          .blocks_y = DividedUp(rows, kRowsOfPart),
          .threads = kTileColumns,
          .threads_y = kTileRows};
}

__device__ inline int64_t OwnColumn() {
  return static_cast<int64_t>(blockIdx.x) * kTileColumns + threadIdx.x;
}

// The rows that this thread sums are FirstRow() and every kTileRows-th row
// after it, up to EndRow(rows) - 1.
__device__ inline int64_t FirstRow() {
  return blockIdx.y * kRowsOfPart + threadIdx.y;
}

__device__ inline int64_t EndRow(int64_t rows) {
  const int64_t end = (blockIdx.y + 1) * kRowsOfPart;
  return end < rows ? end : rows;
}

// Adds the `own` values of all threads with the same threadIdx.x, in a fixed
// order. Each of these threads gets the sum. All threads of the block must call
// TileSum. `tile`: working memory; two successive calls may use the same `tile`
// without a barrier between the calls.
__device__ inline float TileSum(float own, ColumnTile& tile) {
  const int x = static_cast<int>(threadIdx.x);
  __syncthreads();
  tile[static_cast<int>(threadIdx.y) * kTileColumns + x] = own;
  __syncthreads();
  float sum = 0;
  for (int y = 0; y < kTileRows; ++y) sum += tile[y * kTileColumns + x];
  return sum;
}

// Each thread of a block has a value `own` for one column (OwnColumn). For each
// column, sets partial[blockIdx.y, column] to the sum of the values of all
// threads of this column. `columns`: the number of columns of `partial`. All
// threads of the block must call PutTileSums.
__device__ inline void PutTileSums(float own, ColumnTile& tile, int64_t columns,
                                   float* partial) {
  const float sum = TileSum(own, tile);
  if (threadIdx.y != 0 || OwnColumn() >= columns) return;
  partial[blockIdx.y * columns + OwnColumn()] = sum;
}

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_THREAD_SUMS_H_
