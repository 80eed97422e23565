#ifndef MUSTER_MODELS_CUDA_KERNELS_COLUMN_SUMS_H_
#define MUSTER_MODELS_CUDA_KERNELS_COLUMN_SUMS_H_

#include <cstdint>

#include "models/cuda/kernels/cuda_stream.h"

namespace muster::cuda {

// Into how many parts rows are divided, each summed by blocks of its own.
int64_t RowParts(int64_t rows);

// Elements of working memory.
int64_t ColumnSumsScratchCount(int64_t rows, int64_t columns);

// Adds to sums[columns] those of values[rows, columns], a bias's gradient: in
// float32, in the same order always. T: float, Bfloat16.
template <typename T>
void ColumnSums(const T* values, int64_t rows, int64_t columns, float* scratch,
                float* sums, CudaStream stream);

// Adds partial[parts, columns] to sums[columns].
void AddPartialSums(const float* partial, int64_t parts, int64_t columns,
                    float* sums, CudaStream stream);

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_COLUMN_SUMS_H_
