#include "models/kernels/gelu.h"

#include "models/kernels/best_kernels.h"

namespace muster::models {

template <typename T>
void GeluForward(const T* input, int64_t count, T* output, T* slope) {
  BestKernels<T>().gelu_forward(input, count, output, slope);
}

template <typename T>
void GeluBackward(const T* __restrict slope, int64_t count,
                  T* __restrict gradient) {
  for (int64_t i = 0; i < count; ++i) gradient[i] *= slope[i];
}

template void GeluForward<float>(const float*, int64_t, float*, float*);
template void GeluForward<double>(const double*, int64_t, double*, double*);
template void GeluBackward<float>(const float*, int64_t, float*);
template void GeluBackward<double>(const double*, int64_t, double*);

}  // namespace muster::models
