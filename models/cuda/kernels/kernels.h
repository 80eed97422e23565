#ifndef MUSTER_MODELS_CUDA_KERNELS_KERNELS_H_
#define MUSTER_MODELS_CUDA_KERNELS_KERNELS_H_

#include <cstdint>

#include "trainer_sdk/cuda/cuda_types.h"

// The CUDA kernels of the transformer. All pointers are addresses in device
// memory. Each function enqueues its work on the stream and returns.

namespace muster::models::cuda {

// Multiplies scores[matrices, time, time] by `factor`, and replaces each row up
// to the diagonal by its softmax. Elements above the diagonal become zero. T:
// float, Bfloat16.
template <typename T>
void CausalSoftmaxForward(int64_t matrices, int64_t time, float factor,
                          T* scores, CudaStream stream);

// Computes the backward pass of the causal softmax: replaces the gradient of
// the probabilities in `gradient` by the gradient of the scores. Elements above
// the diagonal become zero.
template <typename T>
void CausalSoftmaxBackward(const T* probabilities, int64_t matrices,
                           int64_t time, float factor, T* gradient,
                           CudaStream stream);

// Returns the number of parts into which `rows` rows are divided for a sum over
// the rows. Different thread blocks sum different parts.
int64_t RowParts(int64_t rows);

// The number of elements of `scratch` that ColumnSums needs.
int64_t ColumnSumsScratchCount(int64_t rows, int64_t columns);

// Adds the column sums of values[rows, columns] to sums[columns], for example
// for the gradient of a bias. Sums are computed in float32 in a fixed order. T:
// float, Bfloat16.
template <typename T>
void ColumnSums(const T* values, int64_t rows, int64_t columns, float* scratch,
                float* sums, CudaStream stream);

// Adds `parts` partial sums of each column, partial[parts, columns], to
// sums[columns].
void AddPartialSums(const float* partial, int64_t parts, int64_t columns,
                    float* sums, CudaStream stream);

// Computes CrossEntropy (models/kernels/layers.h). Rows of the logits are
// `stride` elements apart, because GPT-2's 50257 classes are padded to make
// products faster. *mean_loss is in device memory. `losses`: working memory of
// `rows` elements. T: float, Bfloat16.
template <typename T>
void CrossEntropy(const T* logits, const int32_t* targets, int64_t rows,
                  int64_t classes, int64_t stride, float* losses,
                  double* mean_loss, CudaStream stream);

// Computes the same mean loss as CrossEntropy, and replaces the logits by their
// gradient times `factor`. The last `stride` - `classes` elements of each row,
// which are padding and belong to no class, become 0.
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

// The GPU version of EmbeddingForward (models/kernels/layers.h). T: float,
// Bfloat16.
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

// Computes the backward pass of the embeddings: adds to the float32 gradients
// of the token table and the position table, in a fixed order.
template <typename T>
void EmbeddingBackward(const EmbeddingShape& shape,
                       const DeviceTokenRows& token_rows,
                       const T* output_gradient, float* token_gradient,
                       float* position_gradient, CudaStream stream);

// Computes GeluForward (models/kernels/layers.h) of input[rows, width] +
// bias[width]; the bias may be null. The slope of GELU is not stored: the
// backward pass recomputes it, which is cheaper than memory traffic. T: float,
// Bfloat16.
template <typename T>
void BiasGeluForward(const T* input, const T* bias, int64_t rows, int64_t width,
                     T* output, CudaStream stream);

// Computes the backward pass of BiasGeluForward: replaces the gradient of the
// output in `gradient` by the gradient of input + bias.
template <typename T>
void BiasGeluBackward(const T* input, const T* bias, int64_t rows,
                      int64_t width, T* gradient, CudaStream stream);

// Computes LayerNormForward (models/kernels/layers.h); mean and scale are
// float32. The residual stream is not added here: the preceding matrix product
// adds it (with beta 1) without extra memory traffic. T: float, Bfloat16.
template <typename T>
void LayerNormForward(const T* input, const T* gain, const T* bias,
                      int64_t rows, int64_t width, T* output, float* mean,
                      float* scale, CudaStream stream);

// The number of elements of `scratch` that LayerNormBackward needs.
int64_t LayerNormScratchCount(int64_t rows, int64_t width);

// Computes the backward pass of the layer norm: adds the gradient of the input
// to `input_gradient`, and adds to the float32 gradients of gain and bias, in a
// fixed order. `bias_gradient` may be null.
template <typename T>
void LayerNormBackward(const T* output_gradient, const T* input, const T* gain,
                       const float* mean, const float* scale, int64_t rows,
                       int64_t width, float* scratch, T* input_gradient,
                       float* gain_gradient, float* bias_gradient,
                       CudaStream stream);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_KERNELS_H_
