#include "models/cuda/kernels/kernels.h"
#include "models/cuda/kernels/thread_sums.h"

namespace muster::models::cuda {
namespace {

// Added to a row's variance, as in GPT-2, so that no division by 0 occurs.
constexpr float kEpsilon = 1e-5f;
constexpr int kWarps = 4;

// The index of the matrix row that this thread's warp handles. Each of the
// kWarps warps of a block handles one row.
__device__ int64_t OwnRow() {
  return static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / kWarp;
}

template <typename T>
__global__ void Forward(const T* input, const T* gain, const T* bias,
                        int64_t rows, int64_t width, T* output, float* mean,
                        float* scale) {
  const int64_t row = OwnRow();
  if (row >= rows) return;
  const int lane = threadIdx.x % kWarp;
  const T* const x = input + row * width;
  float sum = 0;
  for (int64_t j = lane; j < width; j += kWarp) sum += ToFloat(x[j]);
  const float m = WarpSum(sum) / static_cast<float>(width);
  float squares = 0;
  for (int64_t j = lane; j < width; j += kWarp) {
    const float distance = ToFloat(x[j]) - m;
    squares += distance * distance;
  }
  const float variance = WarpSum(squares) / static_cast<float>(width);
  const float s = 1 / sqrtf(variance + kEpsilon);
  for (int64_t j = lane; j < width; j += kWarp) {
    const float normal = (ToFloat(x[j]) - m) * s * ToFloat(gain[j]);
    Put(bias == nullptr ? normal : normal + ToFloat(bias[j]),
        &output[row * width + j]);
  }
  if (lane == 0) {
    mean[row] = m;
    scale[row] = s;
  }
}

template <typename T>
__global__ void InputBackward(const T* output_gradient, const T* input,
                              const T* gain, const float* mean,
                              const float* scale, int64_t rows, int64_t width,
                              T* input_gradient) {
  const int64_t row = OwnRow();
  if (row >= rows) return;
  const int lane = threadIdx.x % kWarp;
  const T* const x = input + row * width;
  const T* const dy = output_gradient + row * width;
  T* const dx = input_gradient + row * width;
  const float m = mean[row];
  const float s = scale[row];
  // The parts of the input's gradient that pass through the row's mean
  // (by_mean) and through its standard deviation (by_scale).
  float by_mean = 0;
  float by_scale = 0;
  for (int64_t j = lane; j < width; j += kWarp) {
    const float weighted = ToFloat(dy[j]) * ToFloat(gain[j]);
    by_mean += weighted;
    by_scale += weighted * (ToFloat(x[j]) - m) * s;
  }
  by_mean = WarpSum(by_mean) / static_cast<float>(width);
  by_scale = WarpSum(by_scale) / static_cast<float>(width);
  for (int64_t j = lane; j < width; j += kWarp) {
    const float weighted = ToFloat(dy[j]) * ToFloat(gain[j]);
    const float normal = (ToFloat(x[j]) - m) * s;
    Put(ToFloat(dx[j]) + (weighted - by_mean - normal * by_scale) * s, &dx[j]);
  }
}

// Computes the gradients of the gain and of the bias, summed over one part of
// the rows. `partial` receives the sums for the gain, then those for the bias.
template <typename T>
__global__ void WeightBackward(const T* output_gradient, const T* input,
                               const float* mean, const float* scale,
                               int64_t rows, int64_t width, float* partial) {
  __shared__ ColumnTile tile;
  const int64_t column = OwnColumn();
  float gain_sum = 0;
  float bias_sum = 0;
  if (column < width) {
    for (int64_t row = FirstRow(); row < EndRow(rows); row += kTileRows) {
      const int64_t at = row * width + column;
      const float dy = ToFloat(output_gradient[at]);
      gain_sum += dy * (ToFloat(input[at]) - mean[row]) * scale[row];
      bias_sum += dy;
    }
  }
  PutTileSums(gain_sum, tile, width, partial);
  PutTileSums(bias_sum, tile, width, partial + gridDim.y * width);
}

}  // namespace

template <typename T>
void LayerNormForward(const T* input, const T* gain, const T* bias,
                      int64_t rows, int64_t width, T* output, float* mean,
                      float* scale, CudaStream stream) {
  Launch(Forward<T>,
         {.blocks = DividedUp(rows, kWarps), .threads = kWarps * kWarp}, stream,
         input, gain, bias, rows, width, output, mean, scale);
}

int64_t LayerNormScratchCount(int64_t rows, int64_t width) {
  return 2 * ColumnSumsScratchCount(rows, width);
}

template <typename T>
void LayerNormBackward(const T* output_gradient, const T* input, const T* gain,
                       const float* mean, const float* scale, int64_t rows,
                       int64_t width, float* scratch, T* input_gradient,
                       float* gain_gradient, float* bias_gradient,
                       CudaStream stream) {
  Launch(InputBackward<T>,
         {.blocks = DividedUp(rows, kWarps), .threads = kWarps * kWarp}, stream,
         output_gradient, input, gain, mean, scale, rows, width,
         input_gradient);
  Launch(WeightBackward<T>, TileGrid(rows, width), stream, output_gradient,
         input, mean, scale, rows, width, scratch);
  AddPartialSums(scratch, RowParts(rows), width, gain_gradient, stream);
  if (bias_gradient == nullptr) return;
  AddPartialSums(scratch + ColumnSumsScratchCount(rows, width), RowParts(rows),
                 width, bias_gradient, stream);
}

template void LayerNormForward(const float*, const float*, const float*,
                               int64_t, int64_t, float*, float*, float*,
                               CudaStream);
template void LayerNormForward(const Bfloat16*, const Bfloat16*,
                               const Bfloat16*, int64_t, int64_t, Bfloat16*,
                               float*, float*, CudaStream);
template void LayerNormBackward(const float*, const float*, const float*,
                                const float*, const float*, int64_t, int64_t,
                                float*, float*, float*, float*, CudaStream);
template void LayerNormBackward(const Bfloat16*, const Bfloat16*,
                                const Bfloat16*, const float*, const float*,
                                int64_t, int64_t, float*, Bfloat16*, float*,
                                float*, CudaStream);

}  // namespace muster::models::cuda
