#include "models/cuda/kernels/convert.h"
#include "models/cuda/kernels/element.h"

namespace muster::cuda {
namespace {

constexpr int kThreads = 256;

template <typename From, typename To>
__global__ void Convert(const From* from, int64_t count, To* to) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) Put(ToFloat(from[i]), &to[i]);
}

}  // namespace

void Narrow(const float* from, int64_t count, Bfloat16* to, CudaStream stream) {
  Launch(Convert<float, Bfloat16>,
         {.blocks = DividedUp(count, kThreads), .threads = kThreads}, stream,
         from, count, to);
}

void Widen(const Bfloat16* from, int64_t count, float* to, CudaStream stream) {
  Launch(Convert<Bfloat16, float>,
         {.blocks = DividedUp(count, kThreads), .threads = kThreads}, stream,
         from, count, to);
}

}  // namespace muster::cuda
