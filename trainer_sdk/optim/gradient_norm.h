#ifndef MUSTER_TRAINER_SDK_OPTIM_GRADIENT_NORM_H_
#define MUSTER_TRAINER_SDK_OPTIM_GRADIENT_NORM_H_

#include <cstdint>

namespace muster {

// Returns the sum of the squares of `values`, computed in double precision and
// in a fixed order. If ranks hold different parts of a model, an all_reduce of
// the results gives the sum for the whole model.
double SumOfSquares(const float* values, int64_t count);

// Returns the factor that limits the norm of gradients to `most`: min(1, most /
// (norm + 1e-6)), as in torch.nn.utils.clip_grad_norm_. The norm is the square
// root of `sum_of_squares`. NaN if the norm is NaN.
double ClipCoefficient(double sum_of_squares, double most);

// Multiplies all values by `factor`.
void Scale(float* values, int64_t count, double factor);

// Whether all values are finite, that is, neither infinite nor NaN.
enum class Finite { kAll, kNotAll };

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_GRADIENT_NORM_H_
