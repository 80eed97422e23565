#include "models/cuda/kernels/kernels.h"
#include "models/cuda/kernels/thread_sums.h"

namespace muster::models::cuda {
namespace {

template <typename T>
__global__ void PartialSums(const T* values, int64_t rows, int64_t columns,
                            float* partial) {
  __shared__ ColumnTile tile;
  const int64_t column = OwnColumn();
  float sum = 0;
  if (column < columns) {
    for (int64_t row = FirstRow(); row < EndRow(rows); row += kTileRows) {
      sum += ToFloat(values[row * columns + column]);
    }
  }
  PutTileSums(sum, tile, columns, partial);
}

// Adds the partial sums of each column. Several threads share a column: a
// single thread would take as long as the kernel that computed the partial
// sums.
__global__ void AddParts(const float* partial, int64_t parts, int64_t columns,
                         float* sums) {
  __shared__ ColumnTile tile;
  const int64_t column = OwnColumn();
  float sum = 0;
  if (column < columns) {
    for (int64_t part = threadIdx.y; part < parts; part += kTileRows) {
      sum += partial[part * columns + column];
    }
  }
  sum = TileSum(sum, tile);
  if (threadIdx.y == 0 && column < columns) sums[column] += sum;
}

}  // namespace

int64_t RowParts(int64_t rows) { return TileGrid(rows, 1).blocks_y; }

int64_t ColumnSumsScratchCount(int64_t rows, int64_t columns) {
  return RowParts(rows) * columns;
}

template <typename T>
void ColumnSums(const T* values, int64_t rows, int64_t columns, float* scratch,
                float* sums, CudaStream stream) {
  Launch(PartialSums<T>, TileGrid(rows, columns), stream, values, rows, columns,
         scratch);
  AddPartialSums(scratch, RowParts(rows), columns, sums, stream);
}

void AddPartialSums(const float* partial, int64_t parts, int64_t columns,
                    float* sums, CudaStream stream) {
  Launch(AddParts,
         {.blocks = DividedUp(columns, kTileColumns),
          .threads = kTileColumns,
          .threads_y = kTileRows},
         stream, partial, parts, columns, sums);
}

template void ColumnSums(const float*, int64_t, int64_t, float*, float*,
                         CudaStream);
template void ColumnSums(const Bfloat16*, int64_t, int64_t, float*, float*,
                         CudaStream);

}  // namespace muster::models::cuda
