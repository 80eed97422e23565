#include "models/gpt_cuda/cuda_linear.h"

#include "models/cuda/kernels/column_sums.h"

namespace muster::models::cuda {

template <typename T>
void LinearForward(Device& device, const LinearShape& shape, const T* input,
                   const T* weight, const T* bias, const T* addend, T* output) {
  device.Multiply({.a = Matrix::Dense(input, shape.rows, shape.in),
                   .b = Matrix::Dense(weight, shape.in, shape.out),
                   .result = Matrix::Dense(output, shape.rows, shape.out),
                   .addend = addend,
                   .bias = bias});
}

template <typename T>
void LinearBackwardInput(Device& device, const LinearShape& shape,
                         const T* output_gradient, const T* weight,
                         T* input_gradient) {
  device.Multiply(
      {.a = Matrix::Dense(output_gradient, shape.rows, shape.out),
       .b_form = MatrixForm::kTransposed,
       .b = Matrix::Dense(weight, shape.in, shape.out),
       .result = Matrix::Dense(input_gradient, shape.rows, shape.in)});
}

template <typename T>
void LinearBackwardWeight(Device& device, const LinearShape& shape,
                          const T* input, const T* output_gradient,
                          const CudaGptPair<T>& weights, float* scratch) {
  float* const gradient = weights.weight.gradient;
  device.Multiply({.a_form = MatrixForm::kTransposed,
                   .a = Matrix::Dense(input, shape.rows, shape.in),
                   .b = Matrix::Dense(output_gradient, shape.rows, shape.out),
                   .result = Matrix::Dense(gradient, shape.in, shape.out),
                   .addend = gradient});
  if (weights.bias.gradient == nullptr) return;
  ColumnSums(output_gradient, shape.rows, shape.out, scratch,
             weights.bias.gradient, device.stream());
}

template void LinearForward(Device&, const LinearShape&, const float*,
                            const float*, const float*, const float*, float*);
template void LinearForward(Device&, const LinearShape&, const Bfloat16*,
                            const Bfloat16*, const Bfloat16*, const Bfloat16*,
                            Bfloat16*);
template void LinearBackwardInput(Device&, const LinearShape&, const float*,
                                  const float*, float*);
template void LinearBackwardInput(Device&, const LinearShape&, const Bfloat16*,
                                  const Bfloat16*, Bfloat16*);
template void LinearBackwardWeight(Device&, const LinearShape&, const float*,
                                   const float*, const CudaGptPair<float>&,
                                   float*);
template void LinearBackwardWeight(Device&, const LinearShape&, const Bfloat16*,
                                   const Bfloat16*,
                                   const CudaGptPair<Bfloat16>&, float*);

}  // namespace muster::models::cuda
