#include "models/cuda/kernels/kernels.h"
#include "models/cuda/kernels/thread_sums.h"

namespace muster::models::cuda {
namespace {

constexpr int kThreads = 128;

__device__ int64_t OwnColumn() {
  return static_cast<int64_t>(blockIdx.y) * kThreads + threadIdx.x;
}

template <typename T>
__global__ void Forward(EmbeddingShape shape, const int32_t* tokens,
                        const T* token_table, const T* position_table,
                        T* output) {
  const int64_t row = blockIdx.x;
  const int64_t column = OwnColumn();
  if (column >= shape.width) return;
  const int64_t token = tokens[row];
  const int64_t position = row % shape.time;
  Put(ToFloat(token_table[token * shape.width + column]) +
          ToFloat(position_table[position * shape.width + column]),
      &output[row * shape.width + column]);
}

// Adds to the gradient of the token table. Launched with one thread block for
// every kThreads columns of each distinct token, so each element of the
// gradient is changed by one thread only.
template <typename T>
__global__ void TokenBackward(EmbeddingShape shape, DeviceTokenRows token_rows,
                              const T* output_gradient, float* gradient) {
  const int64_t column = OwnColumn();
  if (column >= shape.width) return;
  float sum = 0;
  for (int32_t i = token_rows.begins[blockIdx.x];
       i < token_rows.begins[blockIdx.x + 1]; ++i) {
    const int64_t row = token_rows.rows[i];
    sum += ToFloat(output_gradient[row * shape.width + column]);
  }
  const int64_t token = token_rows.tokens[blockIdx.x];
  gradient[token * shape.width + column] += sum;
}

// Adds to the gradient of the position table. Launched with one thread block
// for every kThreads columns of each position.
template <typename T>
__global__ void PositionBackward(EmbeddingShape shape, const T* output_gradient,
                                 float* gradient) {
  const int64_t column = OwnColumn();
  if (column >= shape.width) return;
  float sum = 0;
  for (int64_t i = 0; i < shape.batch; ++i) {
    const int64_t row = i * shape.time + blockIdx.x;
    sum += ToFloat(output_gradient[row * shape.width + column]);
  }
  gradient[blockIdx.x * shape.width + column] += sum;
}

Grid GridFor(const EmbeddingShape& shape, int64_t blocks) {
  return {.blocks = blocks,
          .blocks_y = DividedUp(shape.width, kThreads),
          .threads = kThreads};
}

}  // namespace

template <typename T>
void EmbeddingForward(const EmbeddingShape& shape, const int32_t* tokens,
                      const T* token_table, const T* position_table, T* output,
                      CudaStream stream) {
  Launch(Forward<T>, GridFor(shape, shape.batch * shape.time), stream, shape,
         tokens, token_table, position_table, output);
}

template <typename T>
void EmbeddingBackward(const EmbeddingShape& shape,
                       const DeviceTokenRows& token_rows,
                       const T* output_gradient, float* token_gradient,
                       float* position_gradient, CudaStream stream) {
  Launch(TokenBackward<T>, GridFor(shape, token_rows.count), stream, shape,
         token_rows, output_gradient, token_gradient);
  Launch(PositionBackward<T>, GridFor(shape, shape.time), stream, shape,
         output_gradient, position_gradient);
}

template void EmbeddingForward(const EmbeddingShape&, const int32_t*,
                               const float*, const float*, float*, CudaStream);
template void EmbeddingForward(const EmbeddingShape&, const int32_t*,
                               const Bfloat16*, const Bfloat16*, Bfloat16*,
                               CudaStream);
template void EmbeddingBackward(const EmbeddingShape&, const DeviceTokenRows&,
                                const float*, float*, float*, CudaStream);
template void EmbeddingBackward(const EmbeddingShape&, const DeviceTokenRows&,
                                const Bfloat16*, float*, float*, CudaStream);

}  // namespace muster::models::cuda
