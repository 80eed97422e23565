#ifndef MUSTER_MODELS_CUDA_KERNELS_COLUMN_SUMS_H_
#define MUSTER_MODELS_CUDA_KERNELS_COLUMN_SUMS_H_

#include <cstdint>

#include "trainer_sdk/cuda/cuda_types.h"

namespace muster::models::cuda {

// The number of parts into which rows are divided; each part is summed by
// blocks of its own.
int64_t RowParts(int64_t rows);

// Number of elements of working memory.
int64_t ColumnSumsScratchCount(int64_t rows, int64_t columns);

// Adds the column sums of values[rows, columns] to sums[columns], as for the
// gradient of a bias. Computed in float32 in a fixed order. T: float, Bfloat16.
template <typename T>
void ColumnSums(const T* values, int64_t rows, int64_t columns, float* scratch,
                float* sums, CudaStream stream);

// Adds the column sums of partial[parts, columns] to sums[columns].
void AddPartialSums(const float* partial, int64_t parts, int64_t columns,
                    float* sums, CudaStream stream);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_COLUMN_SUMS_H_
