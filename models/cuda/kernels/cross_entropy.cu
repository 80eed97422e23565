#include "models/cuda/kernels/kernels.h"
#include "models/cuda/kernels/thread_sums.h"

namespace muster::models::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
// Number of elements that a thread reads before it uses the first of them, so
// that the reads overlap; otherwise each read would wait for the memory.
constexpr int kAtOnce = 4;

// Reads the logits of kAtOnce columns of a row: `first`, `first` + kThreads,
// and so on. The result for a column beyond the last class is -infinity.
template <typename T>
__device__ void ReadLogits(const T* row, int64_t first, int64_t classes,
                           float (&logits)[kAtOnce]) {
  for (int i = 0; i < kAtOnce; ++i) {
    const int64_t j = first + i * kThreads;
    // The read is unconditional, because a branch would keep the reads from
    // overlapping.
    const float logit = ToFloat(row[j < classes ? j : first]);
    logits[i] = j < classes ? logit : -INFINITY;
  }
}

// The two numbers from which the softmax of a row is computed: its largest
// logit, and the sum of e^(logit - largest).
struct Partition {
  float most;
  float sum;
};

// Computes the largest logit of a row and the sum of e^(logit - largest). Reads
// the row once. Called by all threads of a block; each of them gets the result.
template <typename T>
__device__ Partition RowPartition(const T* row, int64_t classes,
                                  SharedArray<float, kWarps>& line) {
  float most = -INFINITY;
  float sum = 0;
  for (int64_t first = threadIdx.x; first < classes;
       first += kAtOnce * kThreads) {
    float x[kAtOnce];
    ReadLogits(row, first, classes, x);
    float new_most = most;
    for (int i = 0; i < kAtOnce; ++i) new_most = fmaxf(new_most, x[i]);
    sum *= expf(most - new_most);
    for (int i = 0; i < kAtOnce; ++i) sum += expf(x[i] - new_most);
    most = new_most;
  }
  const float largest = BlockMax(most, line);
  // A thread that has read no column has most = -infinity and sum = 0, so it
  // adds 0 to the block's sum.
  return {largest, BlockSum(sum * expf(most - largest), line)};
}

// Computes the loss of each row. Launched with one thread block per row.
template <typename T>
__global__ void RowLoss(const T* logits, const int32_t* targets,
                        int64_t classes, int64_t stride, float* losses) {
  __shared__ SharedArray<float, kWarps> line;
  const T* const row = logits + static_cast<int64_t>(blockIdx.x) * stride;
  const Partition all = RowPartition(row, classes, line);
  if (threadIdx.x == 0) {
    losses[blockIdx.x] =
        logf(all.sum) + all.most - ToFloat(row[targets[blockIdx.x]]);
  }
}

template <typename T>
__global__ void RowLossAndGradient(T* logits, const int32_t* targets,
                                   int64_t classes, int64_t stride,
                                   float factor, float* losses) {
  __shared__ SharedArray<float, kWarps> line;
  T* const row = logits + static_cast<int64_t>(blockIdx.x) * stride;
  const int32_t target = targets[blockIdx.x];
  // Read the target's logit before the barriers in RowPartition, because other
  // threads overwrite logits after these barriers.
  const float aimed = ToFloat(row[target]);
  const Partition all = RowPartition(row, classes, line);
  if (threadIdx.x == 0) losses[blockIdx.x] = logf(all.sum) + all.most - aimed;
  const float share = 1 / all.sum;
  for (int64_t first = threadIdx.x; first < classes;
       first += kAtOnce * kThreads) {
    float x[kAtOnce];
    ReadLogits(row, first, classes, x);
    for (int i = 0; i < kAtOnce; ++i) {
      const int64_t j = first + i * kThreads;
      if (j >= classes) continue;
      const float probability = expf(x[i] - all.most) * share;
      Put((probability - (j == target ? 1.0f : 0.0f)) * factor, &row[j]);
    }
  }
  for (int64_t j = classes + threadIdx.x; j < stride; j += kThreads) {
    Put(0, &row[j]);
  }
}

// Computes the mean of the values. Launched as a single block.
__global__ void Mean(const float* values, int64_t count, double* mean) {
  __shared__ SharedArray<double, kWarps> line;
  double sum = 0;
  for (int64_t i = threadIdx.x; i < count; i += kThreads) sum += values[i];
  sum = BlockSum(sum, line);
  if (threadIdx.x == 0) *mean = sum / static_cast<double>(count);
}

}  // namespace

template <typename T>
void CrossEntropy(const T* logits, const int32_t* targets, int64_t rows,
                  int64_t classes, int64_t stride, float* losses,
                  double* mean_loss, CudaStream stream) {
  Launch(RowLoss<T>, {.blocks = rows, .threads = kThreads}, stream, logits,
         targets, classes, stride, losses);
  Launch(Mean, {.threads = kThreads}, stream, losses, rows, mean_loss);
}

template <typename T>
void CrossEntropyWithGradient(T* logits, const int32_t* targets, int64_t rows,
                              int64_t classes, int64_t stride, float factor,
                              float* losses, double* mean_loss,
                              CudaStream stream) {
  Launch(RowLossAndGradient<T>, {.blocks = rows, .threads = kThreads}, stream,
         logits, targets, classes, stride, factor / static_cast<float>(rows),
         losses);
  Launch(Mean, {.threads = kThreads}, stream, losses, rows, mean_loss);
}

template void CrossEntropy(const float*, const int32_t*, int64_t, int64_t,
                           int64_t, float*, double*, CudaStream);
template void CrossEntropy(const Bfloat16*, const int32_t*, int64_t, int64_t,
                           int64_t, float*, double*, CudaStream);
template void CrossEntropyWithGradient(float*, const int32_t*, int64_t, int64_t,
                                       int64_t, float, float*, double*,
                                       CudaStream);
template void CrossEntropyWithGradient(Bfloat16*, const int32_t*, int64_t,
                                       int64_t, int64_t, float, float*, double*,
                                       CudaStream);

}  // namespace muster::models::cuda
