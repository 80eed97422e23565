#include "models/kernels/linear.h"

#include <algorithm>

#include "models/kernels/matrix_product.h"

namespace muster::models {

namespace {

template <typename T>
void Multiply(const T* input, const T* weight, int64_t rows, int64_t in,
              int64_t out, T keep, T* output) {
  MatrixProduct(Form::kPlain, MatrixView<const T>::Dense(input, rows, in),
                Form::kPlain, MatrixView<const T>::Dense(weight, in, out), T{1},
                keep, MatrixView<T>::Dense(output, rows, out));
}

// Adds the bias to each row.
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
