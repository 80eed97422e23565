#ifndef MUSTER_MODELS_KERNELS_CROSS_ENTROPY_H_
#define MUSTER_MODELS_KERNELS_CROSS_ENTROPY_H_

#include <cstdint>

namespace muster::models {

// The mean over the rows of -log of the probability that logits[rows, classes]
// give to the target. T: float, double; summed in double.
template <typename T>
double CrossEntropy(const T* logits, const int32_t* targets, int64_t rows,
                    int64_t classes);

// The same, and replaces the logits by their gradient times `factor`.
template <typename T>
double CrossEntropyWithGradient(T* logits, const int32_t* targets, int64_t rows,
                                int64_t classes, T factor);

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_CROSS_ENTROPY_H_
