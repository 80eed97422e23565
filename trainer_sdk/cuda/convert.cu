#include "trainer_sdk/cuda/element.h"
#include "trainer_sdk/cuda/kernels.h"

namespace muster::cuda {
namespace {

constexpr int kThreads = 256;

template <typename From, typename To>
__global__ void ConvertEach(const From* from, int64_t count, To* to,
                            DType precision) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) Put(Rounded(ToFloat(from[i]), precision), &to[i]);
}

}  // namespace

void Convert(const void* from, DType from_type, int64_t count, void* to,
             DType to_type, DType precision, CudaStream stream) {
  WithElements(const_cast<void*>(from), from_type, [&](auto* source) {
    WithElements(to, to_type, [&](auto* destination) {
      using From = std::remove_pointer_t<decltype(source)>;
      using To = std::remove_pointer_t<decltype(destination)>;
      Launch(ConvertEach<From, To>,
             {.blocks = DividedUp(count, kThreads), .threads = kThreads},
             stream, source, count, destination, precision);
    });
  });
}

}  // namespace muster::cuda
