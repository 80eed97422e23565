#include "models/cuda/kernels/kernels.h"
#include "models/cuda/kernels/thread_sums.h"

namespace muster::models::cuda {
namespace {

constexpr int kThreads = 256;
// Number of elements that a thread reads before it writes the first result, so
// that the reads overlap; a read after a write would wait for the memory.
constexpr int kAtOnce = 4;
constexpr float kFactor = 2 * 0.79788456080286535588f;
constexpr float kCube = 0.044715f;

// The factor by which GELU multiplies x. GeluForwardKernel in
// models/kernels/kernels.inc explains the formula.
__device__ float Share(float x) {
  return 1 / (1 + expf(-kFactor * x * (1 + kCube * x * x)));
}

__device__ float Slope(float x) {
  const float share = Share(x);
  return share + x * share * (1 - share) * kFactor * (1 + 3 * kCube * x * x);
}

template <typename T>
__device__ float Biased(const T* input, const T* bias, int64_t at,
                        int64_t column) {
  const float x = ToFloat(input[at]);
  return bias == nullptr ? x : x + ToFloat(bias[column]);
}

// Returns the i-th column that a thread reads. Beyond the end of the row,
// returns the thread's first column again, so that no branch is needed: a
// branch would keep the reads from overlapping. Columns of other threads must
// not be read, because those threads may already have overwritten them.
__device__ int64_t Column(int64_t first, int i, int64_t width) {
  const int64_t column = first + i * kThreads;
  return column < width ? column : first;
}

// Computes GELU of input + bias. Launched with one thread block per row.
template <typename T>
__global__ void Forward(const T* input, const T* bias, int64_t width,
                        T* output) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * width;
  for (int64_t first = threadIdx.x; first < width;
       first += kAtOnce * kThreads) {
    float x[kAtOnce];
    for (int i = 0; i < kAtOnce; ++i) {
      const int64_t j = Column(first, i, width);
      x[i] = Biased(input, bias, row + j, j);
    }
    for (int i = 0; i < kAtOnce; ++i) {
      const int64_t j = first + i * kThreads;
      if (j < width) Put(x[i] * Share(x[i]), &output[row + j]);
    }
  }
}

template <typename T>
__global__ void Backward(const T* input, const T* bias, int64_t width,
                         T* gradient) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * width;
  for (int64_t first = threadIdx.x; first < width;
       first += kAtOnce * kThreads) {
    float x[kAtOnce];
    float passed[kAtOnce];
    for (int i = 0; i < kAtOnce; ++i) {
      const int64_t j = Column(first, i, width);
      x[i] = Biased(input, bias, row + j, j);
      passed[i] = ToFloat(gradient[row + j]);
    }
    for (int i = 0; i < kAtOnce; ++i) {
      const int64_t j = first + i * kThreads;
      if (j < width) Put(passed[i] * Slope(x[i]), &gradient[row + j]);
    }
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

}  // namespace muster::models::cuda
