#ifndef MUSTER_MODELS_CUDA_KERNELS_KERNELS_H_
#define MUSTER_MODELS_CUDA_KERNELS_KERNELS_H_

#include <cstdint>

#include "trainer_sdk/cuda/cuda_types.h"

// The transformer's kernels. All pointers are addresses in device memory. All
// functions enqueue work on a stream and return.

namespace muster::models::cuda {

// Multiplies scores[matrices, time, time] by `factor` and replaces each row up
// to the diagonal by its softmax; elements above the diagonal become zero. T:
// float, Bfloat16.
template <typename T>
void CausalSoftmaxForward(int64_t matrices, int64_t time, float factor,
                          T* scores, CudaStream stream);

// Replaces `gradient`, on input the gradient of the probabilities, by the
// gradient of the scores. Elements above the diagonal become zero.
template <typename T>
void CausalSoftmaxBackward(const T* probabilities, int64_t matrices,
                           int64_t time, float factor, T* gradient,
                           CudaStream stream);

// The number of parts into which `rows` rows are divided; each part is summed
// by blocks of its own.
int64_t RowParts(int64_t rows);

// The number of elements of working memory that ColumnSums needs.
int64_t ColumnSumsScratchCount(int64_t rows, int64_t columns);

// Adds the column sums of values[rows, columns] to sums[columns], as for the
// gradient of a bias. Computed in float32 in a fixed order. T: float, Bfloat16.
template <typename T>
void ColumnSums(const T* values, int64_t rows, int64_t columns, float* scratch,
                float* sums, CudaStream stream);

// Adds the column sums of partial[parts, columns] to sums[columns].
void AddPartialSums(const float* partial, int64_t parts, int64_t columns,
                    float* sums, CudaStream stream);

// CrossEntropy of models/kernels/layers.h. Rows of the logits are `stride`
// elements apart, because GPT-2's 50257 classes are padded to make products
// faster. *mean_loss is in device memory. `losses`: working memory of `rows`
// elements. T: float, Bfloat16.
template <typename T>
void CrossEntropy(const T* logits, const int32_t* targets, int64_t rows,
                  int64_t classes, int64_t stride, float* losses,
                  double* mean_loss, CudaStream stream);

// Computes the same loss, and replaces the logits by their gradient times
// `factor`. The padding between rows, which belongs to no class, becomes 0.
template <typename T>
void CrossEntropyWithGradient(T* logits, const int32_t* targets, int64_t rows,
                              int64_t classes, int64_t stride, float factor,
                              float* losses, double* mean_loss,
                              CudaStream stream);

struct EmbeddingShape {
  int64_t batch = 1;
  int64_t time = 1;
  int64_t width = 1;
};

// EmbeddingForward of models/kernels/layers.h. T: float, Bfloat16.
template <typename T>
void EmbeddingForward(const EmbeddingShape& shape, const int32_t* tokens,
                      const T* token_table, const T* position_table, T* output,
                      CudaStream stream);

// The arrays of TokenRows (token_rows.h) in device memory.
struct DeviceTokenRows {
  int64_t count = 0;
  const int32_t* tokens = nullptr;
  const int32_t* begins = nullptr;
  const int32_t* rows = nullptr;
};

// Adds to the float32 gradients of the token table and the position table, in a
// fixed order.
template <typename T>
void EmbeddingBackward(const EmbeddingShape& shape,
                       const DeviceTokenRows& token_rows,
                       const T* output_gradient, float* token_gradient,
                       float* position_gradient, CudaStream stream);

// GeluForward of models/kernels/layers.h, for input[rows, width] + bias[width],
// where bias may be null. The backward pass recomputes the slope, which costs
// less than storing and reading it. T: float, Bfloat16.
template <typename T>
void BiasGeluForward(const T* input, const T* bias, int64_t rows, int64_t width,
                     T* output, CudaStream stream);

// Replaces `gradient`, on input the gradient of the output, by the gradient of
// input + bias.
template <typename T>
void BiasGeluBackward(const T* input, const T* bias, int64_t rows,
                      int64_t width, T* gradient, CudaStream stream);

// LayerNormForward of models/kernels/layers.h; mean and scale are float32. The
// preceding matrix product adds the residual stream (with beta 1), because that
// needs no extra memory traffic; an addition in the norm would. T: float,
// Bfloat16.
template <typename T>
void LayerNormForward(const T* input, const T* gain, const T* bias,
                      int64_t rows, int64_t width, T* output, float* mean,
                      float* scale, CudaStream stream);

// Number of elements of working memory for LayerNormBackward.
int64_t LayerNormScratchCount(int64_t rows, int64_t width);

// Adds the gradient of the input to `input_gradient`, and adds to the float32
// gradients of gain and bias, in a fixed order. `bias_gradient` may be null.
template <typename T>
void LayerNormBackward(const T* output_gradient, const T* input, const T* gain,
                       const float* mean, const float* scale, int64_t rows,
                       int64_t width, float* scratch, T* input_gradient,
                       float* gain_gradient, float* bias_gradient,
                       CudaStream stream);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_KERNELS_H_
