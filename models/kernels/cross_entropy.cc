#include "models/kernels/cross_entropy.h"

#include "models/kernels/best_kernels.h"

namespace muster::models {

template <typename T>
double CrossEntropy(const T* logits, const int32_t* targets, int64_t rows,
                    int64_t classes) {
  return BestKernels<T>().cross_entropy(logits, targets, rows, classes);
}

template <typename T>
double CrossEntropyWithGradient(T* logits, const int32_t* targets, int64_t rows,
                                int64_t classes, T factor) {
  return BestKernels<T>().cross_entropy_with_gradient(logits, targets, rows,
                                                      classes, factor);
}

template double CrossEntropy<float>(const float*, const int32_t*, int64_t,
                                    int64_t);
template double CrossEntropy<double>(const double*, const int32_t*, int64_t,
                                     int64_t);
template double CrossEntropyWithGradient<float>(float*, const int32_t*, int64_t,
                                                int64_t, float);
template double CrossEntropyWithGradient<double>(double*, const int32_t*,
                                                 int64_t, int64_t, double);

}  // namespace muster::models
