#include "models/cuda/kernels/group_sums.h"
#include "models/cuda/kernels/square_sum.h"

namespace muster::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;

// Each block sums a part of the values into its element of `partial`.
__global__ void PartialSquares(const float* values, int64_t count,
                               double* partial) {
  __shared__ SharedArray<double, kWarps> line;
  double sum = 0;
  const int64_t step = kSquareSumScratch * kThreads;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
       i < count; i += step) {
    const double value = values[i];
    sum += value * value;
  }
  sum = BlockSum(sum, line);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// Runs as one block.
__global__ void Sum(const double* partial, double* total) {
  __shared__ SharedArray<double, kWarps> line;
  double sum = 0;
  for (int64_t i = threadIdx.x; i < kSquareSumScratch; i += kThreads) {
    sum += partial[i];
  }
  sum = BlockSum(sum, line);
  if (threadIdx.x == 0) *total = sum;
}

}  // namespace

void SquareSum(const float* values, int64_t count, double* scratch, double* sum,
               CudaStream stream) {
  Launch(PartialSquares, {.blocks = kSquareSumScratch, .threads = kThreads},
         stream, values, count, scratch);
  Launch(Sum, {.threads = kThreads}, stream, scratch, sum);
}

}  // namespace muster::cuda
