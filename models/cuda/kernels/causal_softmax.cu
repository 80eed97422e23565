#include "models/cuda/kernels/kernels.h"
#include "models/cuda/kernels/thread_sums.h"

namespace muster::models::cuda {
namespace {

constexpr int kWarps = 4;

// The index of the row that this thread's warp handles, counted over the rows
// of all matrices.
__device__ int64_t OwnRow() {
  return static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / kWarp;
}

template <typename T>
__global__ void Forward(int64_t rows, int64_t time, float factor, T* scores) {
  const int64_t row = OwnRow();
  if (row >= rows) return;
  const int lane = threadIdx.x % kWarp;
  const int64_t seen = row % time + 1;
  T* const x = scores + row * time;
  float most = -INFINITY;
  for (int64_t j = lane; j < seen; j += kWarp) {
    most = fmaxf(most, factor * ToFloat(x[j]));
  }
  most = WarpMax(most);
  float sum = 0;
  for (int64_t j = lane; j < seen; j += kWarp) {
    sum += expf(factor * ToFloat(x[j]) - most);
  }
  const float share = 1 / WarpSum(sum);
  for (int64_t j = lane; j < time; j += kWarp) {
    Put(j < seen ? expf(factor * ToFloat(x[j]) - most) * share : 0, &x[j]);
  }
}

template <typename T>
__global__ void Backward(const T* probabilities, int64_t rows, int64_t time,
                         float factor, T* gradient) {
  const int64_t row = OwnRow();
  if (row >= rows) return;
  const int lane = threadIdx.x % kWarp;
  const int64_t seen = row % time + 1;
  const T* const p = probabilities + row * time;
  T* const d = gradient + row * time;
  float sum = 0;
  for (int64_t j = lane; j < seen; j += kWarp) {
    sum += ToFloat(p[j]) * ToFloat(d[j]);
  }
  // The sum of probability times gradient over the row. This sum is subtracted
  // from each gradient, because the probabilities of a row add up to 1: if one
  // of them grows, the others decrease.
  const float lost = WarpSum(sum);
  for (int64_t j = lane; j < time; j += kWarp) {
    Put(j < seen ? factor * ToFloat(p[j]) * (ToFloat(d[j]) - lost) : 0, &d[j]);
  }
}

Grid GridFor(int64_t rows) {
  return {.blocks = DividedUp(rows, kWarps), .threads = kWarps * kWarp};
}

}  // namespace

template <typename T>
void CausalSoftmaxForward(int64_t matrices, int64_t time, float factor,
                          T* scores, CudaStream stream) {
  Launch(Forward<T>, GridFor(matrices * time), stream, matrices * time, time,
         factor, scores);
}

template <typename T>
void CausalSoftmaxBackward(const T* probabilities, int64_t matrices,
                           int64_t time, float factor, T* gradient,
                           CudaStream stream) {
  Launch(Backward<T>, GridFor(matrices * time), stream, probabilities,
         matrices * time, time, factor, gradient);
}

template void CausalSoftmaxForward(int64_t, int64_t, float, float*, CudaStream);
template void CausalSoftmaxForward(int64_t, int64_t, float, Bfloat16*,
                                   CudaStream);
template void CausalSoftmaxBackward(const float*, int64_t, int64_t, float,
                                    float*, CudaStream);
template void CausalSoftmaxBackward(const Bfloat16*, int64_t, int64_t, float,
                                    Bfloat16*, CudaStream);

}  // namespace muster::models::cuda
