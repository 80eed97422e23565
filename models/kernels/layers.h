#ifndef MUSTER_MODELS_KERNELS_LAYERS_H_
#define MUSTER_MODELS_KERNELS_LAYERS_H_

#include <cstdint>

#include "models/kernels/kernel_table.h"

namespace muster::models {

// Computes causal self-attention (Vaswani et al., 2017). The result at each
// position is a weighted average of the values up to this position. The weight
// of a value is large if its key matches the position's query. qkv[batch, time,
// 3 width] holds queries, keys and values side by side. output[batch, time,
// width] receives the result. probabilities[batch, heads, time, time] are kept
// for the backward pass; elements above the diagonal are not computed and are
// zero. `scratch`: AttentionScratchCount elements. T: float, double.
template <typename T>
void AttentionForward(const AttentionShape& shape, const T* qkv, T* scratch,
                      T* probabilities, T* output);

// Computes the backward pass of attention: the gradients of queries, keys and
// values, which overwrite `qkv_gradient`.
template <typename T>
void AttentionBackward(const AttentionShape& shape, const T* qkv,
                       const T* probabilities, const T* output_gradient,
                       T* scratch, T* qkv_gradient);

// Computes the cross-entropy loss: the mean over the rows of -log p, where p is
// the probability that logits[rows, classes] give to the row's target. T:
// float, double; summed in double.
template <typename T>
double CrossEntropy(const T* logits, const int32_t* targets, int64_t rows,
                    int64_t classes);

// Computes the same loss as CrossEntropy, and replaces the logits by their
// gradient times `factor`.
template <typename T>
double CrossEntropyWithGradient(T* logits, const int32_t* targets, int64_t rows,
                                int64_t classes, T factor);

// Computes output[batch, time, width] = token_table[token] +
// position_table[position]. Tokens are row indices of the table; the caller
// must check them. T: float, double.
template <typename T>
void EmbeddingForward(const int32_t* tokens, const T* token_table,
                      const T* position_table, int64_t batch, int64_t time,
                      int64_t width, T* output);

// Computes the backward pass of the embeddings: adds to the gradients of the
// token table and the position table.
template <typename T>
void EmbeddingBackward(const int32_t* tokens, const T* output_gradient,
                       int64_t batch, int64_t time, int64_t width,
                       T* token_gradient, T* position_gradient);

// Computes GPT-2's activation: the Gaussian error linear unit approximated with
// tanh (Hendrycks and Gimpel, 2016; "gelu_new"). `slope` receives the
// derivative, which is all that the backward pass needs. The arrays must not
// overlap. T: float, double.
template <typename T>
void GeluForward(const T* input, int64_t count, T* output, T* slope);

// Computes the backward pass of GELU: replaces the gradient of the output in
// `gradient` by the gradient of the input.
template <typename T>
void GeluBackward(const T* slope, int64_t count, T* gradient);

// Computes layer norm (Ba et al., 2016): normalises each row of `width` values
// to mean zero and variance one (after adding GPT-2's 1e-5 to the variance),
// then multiplies by gain and adds bias, which may be null. `mean` and `scale`
// (the reciprocal deviation), one per row, are kept for the backward pass. T:
// float, double.
template <typename T>
void LayerNormForward(const T* input, const T* gain, const T* bias,
                      int64_t rows, int64_t width, T* output, T* mean,
                      T* scale);

// Computes the backward pass of layer norm: adds to the gradients of the input,
// the gain and the bias. On entry `input_gradient` holds the part of the
// gradient that comes through the residual connection.
template <typename T>
void LayerNormBackward(const T* output_gradient, const T* input, const T* gain,
                       const T* mean, const T* scale, int64_t rows,
                       int64_t width, T* input_gradient, T* gain_gradient,
                       T* bias_gradient);

// Computes a linear layer: output[rows, out] = input[rows, in] weight[in, out]
// + bias[out]. The weight is laid out as in GPT-2's checkpoints, with one row
// per input. Without a bias, `bias` and its gradient are null. All arrays are
// dense and row-major. T: float, double.
template <typename T>
void LinearForward(const T* input, const T* weight, const T* bias, int64_t rows,
                   int64_t in, int64_t out, T* output);

// Computes the linear layer like LinearForward, but adds to the contents of
// `output`.
template <typename T>
void AddLinear(const T* input, const T* weight, const T* bias, int64_t rows,
               int64_t in, int64_t out, T* output);

// Computes the gradient of a linear layer's input from the gradient of its
// output. Overwrites `input_gradient`.
template <typename T>
void LinearBackwardInput(const T* output_gradient, const T* weight,
                         int64_t rows, int64_t in, int64_t out,
                         T* input_gradient);

// Adds to the gradients of a linear layer's weight and bias.
template <typename T>
void LinearBackwardWeight(const T* input, const T* output_gradient,
                          int64_t rows, int64_t in, int64_t out,
                          T* weight_gradient, T* bias_gradient);

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_LAYERS_H_
