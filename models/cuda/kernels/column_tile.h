#ifndef MUSTER_MODELS_CUDA_KERNELS_COLUMN_TILE_H_
#define MUSTER_MODELS_CUDA_KERNELS_COLUMN_TILE_H_

#include "models/cuda/kernels/execution.h"

// For kernel sources only: a block's share of sums over the rows of a matrix,
// namely the columns of one tile and one part of the rows.

namespace muster::models::cuda {

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

// This thread handles FirstRow() and every kTileRows-th row before EndRow().
__device__ inline int64_t FirstRow() {
  return blockIdx.y * kRowsOfPart + threadIdx.y;
}

__device__ inline int64_t EndRow(int64_t rows) {
  const int64_t end = (blockIdx.y + 1) * kRowsOfPart;
  return end < rows ? end : rows;
}

// Adds the values of a column's threads in a fixed order; all of them get the
// sum. All threads of the block must call it. `tile` may be reused at once.
__device__ inline float TileSum(float own, ColumnTile& tile) {
  const int x = static_cast<int>(threadIdx.x);
  __syncthreads();
  tile[static_cast<int>(threadIdx.y) * kTileColumns + x] = own;
  __syncthreads();
  float sum = 0;
  for (int y = 0; y < kTileRows; ++y) sum += tile[y * kTileColumns + x];
  return sum;
}

// Sets partial[part, column] to the sum over the threads of that column.
__device__ inline void PutTileSums(float own, ColumnTile& tile, int64_t columns,
                                   float* partial) {
  const float sum = TileSum(own, tile);
  if (threadIdx.y != 0 || OwnColumn() >= columns) return;
  partial[blockIdx.y * columns + OwnColumn()] = sum;
}

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_COLUMN_TILE_H_
