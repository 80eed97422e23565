#ifndef MUSTER_TRAINER_SDK_OPTIM_GRADIENT_NORM_H_
#define MUSTER_TRAINER_SDK_OPTIM_GRADIENT_NORM_H_

#include <cstdint>

namespace muster {

// Sum of squares, in double and in a fixed order. Several parts of a model add
// theirs; ranks that hold different parts add them with an all_reduce.
double SumOfSquares(const float* values, int64_t count);

// What gradients are multiplied with so that their norm, the root of the sum of
// squares, is at most `most`: min(1, most / (norm + 1e-6)), as
// torch.nn.utils.clip_grad_norm_. NaN for a norm that is no number.
double ClipCoefficient(double sum_of_squares, double most);

// values *= factor
void Scale(float* values, int64_t count, double factor);

// Whether every value of some gradients is a finite number: their
// SumOfSquares is one as well.
enum class Finite { kAll, kNotAll };

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_OPTIM_GRADIENT_NORM_H_
