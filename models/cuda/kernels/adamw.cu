#include <cmath>

#include "models/cuda/kernels/adamw.h"
#include "models/cuda/kernels/element.h"

namespace muster::cuda {
namespace {

constexpr int kThreads = 256;

// The factors of a step, computed in double on the host, as for the CPU.
struct Factors {
  float gradient;
  float keep;
  float beta2;
  float new_mean;
  float new_square;
  float epsilon;
  float root_bias;
  float size;
};

template <typename T>
__global__ void Step(Factors f, AdamWTensors<T> tensors) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= tensors.count) return;
  const float g = tensors.gradient[i] * f.gradient;
  const float m = tensors.mean[i] + (g - tensors.mean[i]) * f.new_mean;
  const float v = tensors.square[i] * f.beta2 + f.new_square * g * g;
  tensors.mean[i] = m;
  tensors.square[i] = v;
  const float weight = tensors.weights[i] * f.keep -
                       f.size * (m / (sqrtf(v) / f.root_bias + f.epsilon));
  tensors.weights[i] = weight;
  Put(weight, &tensors.working[i]);
}

}  // namespace

template <typename T>
void AdamWStep(const AdamWOptions& options, const OptimizerStep& step,
               const AdamWTensors<T>& tensors, CudaStream stream) {
  const auto number = static_cast<double>(step.step);
  const double mean_bias = 1 - std::pow(options.beta1, number);
  const double square_bias = 1 - std::pow(options.beta2, number);
  const Factors factors = {
      .gradient = static_cast<float>(step.gradient_factor),
      .keep = static_cast<float>(1 - step.learning_rate * options.weight_decay),
      .beta2 = static_cast<float>(options.beta2),
      .new_mean = static_cast<float>(1 - options.beta1),
      .new_square = static_cast<float>(1 - options.beta2),
      .epsilon = static_cast<float>(options.epsilon),
      .root_bias = static_cast<float>(std::sqrt(square_bias)),
      .size = static_cast<float>(step.learning_rate / mean_bias)};
  Launch(Step<T>,
         {.blocks = DividedUp(tensors.count, kThreads), .threads = kThreads},
         stream, factors, tensors);
}

template void AdamWStep(const AdamWOptions&, const OptimizerStep&,
                        const AdamWTensors<float>&, CudaStream);
template void AdamWStep(const AdamWOptions&, const OptimizerStep&,
                        const AdamWTensors<Bfloat16>&, CudaStream);

}  // namespace muster::cuda
