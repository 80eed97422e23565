#include "trainer_sdk/cuda/kernels/element.h"
#include "trainer_sdk/cuda/kernels/gelu.h"

namespace muster::cuda {
namespace {

constexpr int kThreads = 256;
constexpr float kFactor = 2 * 0.79788456080286535588f;
constexpr float kCube = 0.044715f;

// See trainer_sdk/kernels/gelu.inc.
__device__ float Share(float x) {
  return 1 / (1 + expf(-kFactor * x * (1 + kCube * x * x)));
}

template <typename T>
__device__ float Biased(const T* input, const T* bias, int64_t at,
                        int64_t column) {
  const float x = ToFloat(input[at]);
  return bias == nullptr ? x : x + ToFloat(bias[column]);
}

// A block for each row.
template <typename T>
__global__ void Forward(const T* input, const T* bias, int64_t width,
                        T* output) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * width;
  for (int64_t j = threadIdx.x; j < width; j += kThreads) {
    const float x = Biased(input, bias, row + j, j);
    Put(x * Share(x), &output[row + j]);
  }
}

template <typename T>
__global__ void Backward(const T* input, const T* bias, int64_t width,
                         T* gradient) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * width;
  for (int64_t j = threadIdx.x; j < width; j += kThreads) {
    const float x = Biased(input, bias, row + j, j);
    const float share = Share(x);
    const float slope =
        share + x * share * (1 - share) * kFactor * (1 + 3 * kCube * x * x);
    Put(ToFloat(gradient[row + j]) * slope, &gradient[row + j]);
  }
}

}  // namespace

template <typename T>
void BiasGeluForward(const T* input, const T* bias, int64_t rows, int64_t width,
                     T* output, CudaStream stream) {
  Launch(Forward<T>, {.blocks = rows, .threads = kThreads}, stream, input, bias,
         width, output);
}

template <typename T>
void BiasGeluBackward(const T* input, const T* bias, int64_t rows,
                      int64_t width, T* gradient, CudaStream stream) {
  Launch(Backward<T>, {.blocks = rows, .threads = kThreads}, stream, input,
         bias, width, gradient);
}

template void BiasGeluForward(const float*, const float*, int64_t, int64_t,
                              float*, CudaStream);
template void BiasGeluForward(const Bfloat16*, const Bfloat16*, int64_t,
                              int64_t, Bfloat16*, CudaStream);
template void BiasGeluBackward(const float*, const float*, int64_t, int64_t,
                               float*, CudaStream);
template void BiasGeluBackward(const Bfloat16*, const Bfloat16*, int64_t,
                               int64_t, Bfloat16*, CudaStream);

}  // namespace muster::cuda
