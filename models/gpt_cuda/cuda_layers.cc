#include "models/gpt_cuda/cuda_layers.h"

#include <cmath>

#include "models/cuda/kernels/kernels.h"

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

namespace {

// Describes the matrices of one sequence, for batched products with one product
// per head.
template <typename T>
class Sequence {
 public:
  Sequence(const AttentionShape& shape, int64_t sequence)
      : shape_(shape), sequence_(sequence) {}

  // The queries (part 0), keys (1) or values (2) of all heads, in an array with
  // the layout of `qkv`.
  Matrix Part(const T* qkv, int64_t part) const {
    return Heads(qkv, 3 * shape_.width, part * shape_.width);
  }
  // The attention's output of all heads. `output` may also be another array
  // with the same layout, such as the output's gradient.
  Matrix Output(const T* output) const {
    return Heads(output, shape_.width, 0);
  }
  Matrix Probabilities(const T* probabilities) const {
    return {.type = kElementType<T>,
            .data = probabilities + FirstProbability(),
            .rows = shape_.time,
            .columns = shape_.time,
            .stride = shape_.time,
            .batch_stride = shape_.time * shape_.time};
  }
  int64_t FirstProbability() const {
    return sequence_ * shape_.heads * shape_.time * shape_.time;
  }

 private:
  Matrix Heads(const T* rows, int64_t stride, int64_t column) const {
    return {.type = kElementType<T>,
            .data = rows + sequence_ * shape_.time * stride + column,
            .rows = shape_.time,
            .columns = HeadWidth(shape_),
            .stride = stride,
            .batch_stride = HeadWidth(shape_)};
  }

  const AttentionShape& shape_;
  const int64_t sequence_;
};

float Factor(const AttentionShape& shape) {
  return 1 / std::sqrt(static_cast<float>(HeadWidth(shape)));
}

}  // namespace

// The functions below process one sequence of a batch after the other. The
// matrices of one sequence (24 MB for GPT-2's twelve heads) are then still in
// the GPU's cache when the next product reads them.

template <typename T>
void AttentionForward(Device& device, const AttentionShape& shape, const T* qkv,
                      T* probabilities, T* output) {
  for (int64_t i = 0; i < shape.batch; ++i) {
    const Sequence<T> sequence(shape, i);
    device.Multiply({.a = sequence.Part(qkv, 0),
                     .b_form = MatrixForm::kTransposed,
                     .b = sequence.Part(qkv, 1),
                     .result = sequence.Probabilities(probabilities),
                     .batch = shape.heads});
    CausalSoftmaxForward(shape.heads, shape.time, Factor(shape),
                         probabilities + sequence.FirstProbability(),
                         device.stream());
    device.Multiply({.a = sequence.Probabilities(probabilities),
                     .b = sequence.Part(qkv, 2),
                     .result = sequence.Output(output),
                     .batch = shape.heads});
  }
}

template <typename T>
void AttentionBackward(Device& device, const AttentionShape& shape,
                       const T* qkv, const T* probabilities,
                       const T* output_gradient, T* scratch, T* qkv_gradient) {
  for (int64_t i = 0; i < shape.batch; ++i) {
    const Sequence<T> sequence(shape, i);
    device.Multiply({.a = sequence.Output(output_gradient),
                     .b_form = MatrixForm::kTransposed,
                     .b = sequence.Part(qkv, 2),
                     .result = sequence.Probabilities(scratch),
                     .batch = shape.heads});
    device.Multiply({.a_form = MatrixForm::kTransposed,
                     .a = sequence.Probabilities(probabilities),
                     .b = sequence.Output(output_gradient),
                     .result = sequence.Part(qkv_gradient, 2),
                     .batch = shape.heads});
    CausalSoftmaxBackward(
        probabilities + sequence.FirstProbability(), shape.heads, shape.time,
        Factor(shape), scratch + sequence.FirstProbability(), device.stream());
    device.Multiply({.a = sequence.Probabilities(scratch),
                     .b = sequence.Part(qkv, 1),
                     .result = sequence.Part(qkv_gradient, 0),
                     .batch = shape.heads});
    device.Multiply({.a_form = MatrixForm::kTransposed,
                     .a = sequence.Probabilities(scratch),
                     .b = sequence.Part(qkv, 0),
                     .result = sequence.Part(qkv_gradient, 1),
                     .batch = shape.heads});
  }
}

template void AttentionForward(Device&, const AttentionShape&, const float*,
                               float*, float*);
template void AttentionForward(Device&, const AttentionShape&, const Bfloat16*,
                               Bfloat16*, Bfloat16*);
template void AttentionBackward(Device&, const AttentionShape&, const float*,
                                const float*, const float*, float*, float*);
template void AttentionBackward(Device&, const AttentionShape&, const Bfloat16*,
                                const Bfloat16*, const Bfloat16*, Bfloat16*,
                                Bfloat16*);

}  // namespace muster::models::cuda
