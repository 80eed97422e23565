#include "models/kernels/layers.h"

#include <algorithm>

#include "models/kernels/kernel_table.h"
#include "models/kernels/matrix_product.h"

namespace muster::models {

template <typename T>
void AttentionForward(const AttentionShape& shape, const T* qkv, T* scratch,
                      T* probabilities, T* output) {
  BestKernels<T>().attention_forward(shape, qkv, scratch, probabilities,
                                     output);
}

template <typename T>
void AttentionBackward(const AttentionShape& shape, const T* qkv,
                       const T* probabilities, const T* output_gradient,
                       T* scratch, T* qkv_gradient) {
  BestKernels<T>().attention_backward(shape, qkv, probabilities,
                                      output_gradient, scratch, qkv_gradient);
}

#define MUSTER_ATTENTION(T)                                                  \
  template void AttentionForward<T>(const AttentionShape&, const T*, T*, T*, \
                                    T*);                                     \
  template void AttentionBackward<T>(const AttentionShape&, const T*,        \
                                     const T*, const T*, T*, T*)
MUSTER_ATTENTION(float);
MUSTER_ATTENTION(double);
#undef MUSTER_ATTENTION

template <typename T>
double CrossEntropy(const T* logits, const int32_t* targets, int64_t rows,
                    int64_t classes) {
  return BestKernels<T>().cross_entropy(logits, targets, rows, classes);
}

template <typename T>
double CrossEntropyWithGradient(T* logits, const int32_t* targets, int64_t rows,
                                int64_t classes, T factor) {
  return BestKernels<T>().cross_entropy_with_gradient(logits, targets, rows,
                                                      classes, factor);
}

template double CrossEntropy<float>(const float*, const int32_t*, int64_t,
                                    int64_t);
template double CrossEntropy<double>(const double*, const int32_t*, int64_t,
                                     int64_t);
template double CrossEntropyWithGradient<float>(float*, const int32_t*, int64_t,
                                                int64_t, float);
template double CrossEntropyWithGradient<double>(double*, const int32_t*,
                                                 int64_t, int64_t, double);

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

template <typename T>
void GeluForward(const T* input, int64_t count, T* output, T* slope) {
  BestKernels<T>().gelu_forward(input, count, output, slope);
}

template <typename T>
void GeluBackward(const T* __restrict slope, int64_t count,
                  T* __restrict gradient) {
  for (int64_t i = 0; i < count; ++i) gradient[i] *= slope[i];
}

template void GeluForward<float>(const float*, int64_t, float*, float*);
template void GeluForward<double>(const double*, int64_t, double*, double*);
template void GeluBackward<float>(const float*, int64_t, float*);
template void GeluBackward<double>(const double*, int64_t, double*);

template <typename T>
void LayerNormForward(const T* input, const T* gain, const T* bias,
                      int64_t rows, int64_t width, T* output, T* mean,
                      T* scale) {
  BestKernels<T>().layer_norm_forward(input, gain, bias, rows, width, output,
                                      mean, scale);
}

template <typename T>
void LayerNormBackward(const T* output_gradient, const T* input, const T* gain,
                       const T* mean, const T* scale, int64_t rows,
                       int64_t width, T* input_gradient, T* gain_gradient,
                       T* bias_gradient) {
  BestKernels<T>().layer_norm_backward(output_gradient, input, gain, mean,
                                       scale, rows, width, input_gradient,
                                       gain_gradient, bias_gradient);
}

#define MUSTER_LAYER_NORM(T)                                                 \
  template void LayerNormForward<T>(const T*, const T*, const T*, int64_t,   \
                                    int64_t, T*, T*, T*);                    \
  template void LayerNormBackward<T>(const T*, const T*, const T*, const T*, \
                                     const T*, int64_t, int64_t, T*, T*, T*)
MUSTER_LAYER_NORM(float);
MUSTER_LAYER_NORM(double);
#undef MUSTER_LAYER_NORM

namespace {

template <typename T>
void Multiply(const T* input, const T* weight, int64_t rows, int64_t in,
              int64_t out, T keep, T* output) {
  MatrixProduct(Form::kPlain, MatrixView<const T>::Dense(input, rows, in),
                Form::kPlain, MatrixView<const T>::Dense(weight, in, out), T{1},
                keep, MatrixView<T>::Dense(output, rows, out));
}

// Adds the bias to each row of the output.
template <typename T>
void AddBias(const T* __restrict bias, int64_t rows, int64_t out,
             T* __restrict output) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < out; ++j) output[i * out + j] += bias[j];
  }
}

}  // namespace

template <typename T>
void LinearForward(const T* input, const T* weight, const T* bias, int64_t rows,
                   int64_t in, int64_t out, T* output) {
  if (bias != nullptr) {
    for (int64_t i = 0; i < rows; ++i) std::copy_n(bias, out, output + i * out);
  }
  Multiply(input, weight, rows, in, out, bias == nullptr ? T{0} : T{1}, output);
}

template <typename T>
void AddLinear(const T* input, const T* weight, const T* bias, int64_t rows,
               int64_t in, int64_t out, T* output) {
  if (bias != nullptr) AddBias(bias, rows, out, output);
  Multiply(input, weight, rows, in, out, T{1}, output);
}

template <typename T>
void LinearBackwardInput(const T* output_gradient, const T* weight,
                         int64_t rows, int64_t in, int64_t out,
                         T* input_gradient) {
  MatrixProduct(Form::kPlain,
                MatrixView<const T>::Dense(output_gradient, rows, out),
                Form::kTransposed, MatrixView<const T>::Dense(weight, in, out),
                T{1}, T{0}, MatrixView<T>::Dense(input_gradient, rows, in));
}

template <typename T>
void LinearBackwardWeight(const T* input, const T* output_gradient,
                          int64_t rows, int64_t in, int64_t out,
                          T* weight_gradient, T* bias_gradient) {
  MatrixProduct(Form::kTransposed, MatrixView<const T>::Dense(input, rows, in),
                Form::kPlain,
                MatrixView<const T>::Dense(output_gradient, rows, out), T{1},
                T{1}, MatrixView<T>::Dense(weight_gradient, in, out));
  if (bias_gradient == nullptr) return;
  for (int64_t i = 0; i < rows; ++i) {
    const T* const row = output_gradient + i * out;
    for (int64_t j = 0; j < out; ++j) bias_gradient[j] += row[j];
  }
}

#define MUSTER_LINEAR(T)                                                      \
  template void LinearForward<T>(const T*, const T*, const T*, int64_t,       \
                                 int64_t, int64_t, T*);                       \
  template void AddLinear<T>(const T*, const T*, const T*, int64_t, int64_t,  \
                             int64_t, T*);                                    \
  template void LinearBackwardInput<T>(const T*, const T*, int64_t, int64_t,  \
                                       int64_t, T*);                          \
  template void LinearBackwardWeight<T>(const T*, const T*, int64_t, int64_t, \
                                        int64_t, T*, T*)
MUSTER_LINEAR(float);
MUSTER_LINEAR(double);
#undef MUSTER_LINEAR

}  // namespace muster::models
