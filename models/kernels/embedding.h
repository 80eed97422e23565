#ifndef MUSTER_MODELS_KERNELS_EMBEDDING_H_
#define MUSTER_MODELS_KERNELS_EMBEDDING_H_

#include <cstdint>

namespace muster::models {

// output[batch, time, width] = token_table[token] + position_table[position].
// Tokens are row indices of the table; the caller must check them. T: float,
// double.
template <typename T>
void EmbeddingForward(const int32_t* tokens, const T* token_table,
                      const T* position_table, int64_t batch, int64_t time,
                      int64_t width, T* output);

// Adds to the gradients of both tables.
template <typename T>
void EmbeddingBackward(const int32_t* tokens, const T* output_gradient,
                       int64_t batch, int64_t time, int64_t width,
                       T* token_gradient, T* position_gradient);

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_EMBEDDING_H_
