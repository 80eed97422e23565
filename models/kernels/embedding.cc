#include "models/kernels/embedding.h"

namespace muster::models {

template <typename T>
void EmbeddingForward(const int32_t* tokens, const T* token_table,
                      const T* position_table, int64_t batch, int64_t time,
                      int64_t width, T* output) {
  for (int64_t i = 0; i < batch * time; ++i) {
    const T* const token = token_table + tokens[i] * width;
    const T* const position = position_table + i % time * width;
    for (int64_t j = 0; j < width; ++j) {
      output[i * width + j] = token[j] + position[j];
    }
  }
}

template <typename T>
void EmbeddingBackward(const int32_t* tokens, const T* output_gradient,
                       int64_t batch, int64_t time, int64_t width,
                       T* token_gradient, T* position_gradient) {
  for (int64_t i = 0; i < batch * time; ++i) {
    T* const token = token_gradient + tokens[i] * width;
    T* const position = position_gradient + i % time * width;
    for (int64_t j = 0; j < width; ++j) {
      const T gradient = output_gradient[i * width + j];
      token[j] += gradient;
      position[j] += gradient;
    }
  }
}

template void EmbeddingForward<float>(const int32_t*, const float*,
                                      const float*, int64_t, int64_t, int64_t,
                                      float*);
template void EmbeddingForward<double>(const int32_t*, const double*,
                                       const double*, int64_t, int64_t, int64_t,
                                       double*);
template void EmbeddingBackward<float>(const int32_t*, const float*, int64_t,
                                       int64_t, int64_t, float*, float*);
template void EmbeddingBackward<double>(const int32_t*, const double*, int64_t,
                                        int64_t, int64_t, double*, double*);

}  // namespace muster::models
