#ifndef MUSTER_TRAINER_SDK_OPTIM_GRADIENT_NORM_H_
#define MUSTER_TRAINER_SDK_OPTIM_GRADIENT_NORM_H_

#include <cstdint>

namespace muster {

// Sum of squares, in double precision and in a fixed order. The sum over
// several parts of a model is the sum of their results; ranks that hold
// different parts use an all_reduce.
double SumOfSquares(const float* values, int64_t count);

// The factor for gradients that limits their norm, the root of the sum of
// squares, to `most`: min(1, most / (norm + 1e-6)), as in
// torch.nn.utils.clip_grad_norm_. NaN if the norm is NaN.
double ClipCoefficient(double sum_of_squares, double most);

// values *= factor
void Scale(float* values, int64_t count, double factor);

// Whether all values are finite.
enum class Finite { kAll, kNotAll };

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_GRADIENT_NORM_H_
