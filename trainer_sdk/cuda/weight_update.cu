#include <cmath>

#include "trainer_sdk/cuda/element.h"
#include "trainer_sdk/cuda/kernels.h"

namespace muster::cuda {
namespace {

constexpr int kThreads = 256;

// The update rules AdamW and SGD as function objects. A rule holds the factors
// of one step, which the host computes in double as the CPU's implementation
// does. Calling a rule with the gradient `g` of element `i` updates the
// optimizer's state and returns the element's new weight.
struct AdamW {
  float keep;
  float beta2;
  float new_mean;
  float new_square;
  float epsilon;
  float root_bias;
  float size;

  __device__ float operator()(const UpdateArrays& arrays, int64_t i,
                              float g) const {
    float* const mean = arrays.first;
    float* const square = arrays.second;
    const float m = mean[i] + (g - mean[i]) * new_mean;
    const float v = square[i] * beta2 + new_square * g * g;
    mean[i] = m;
    square[i] = v;
    return arrays.weights[i] * keep -
           size * (m / (sqrtf(v) / root_bias + epsilon));
  }
};

struct Sgd {
  float rate;
  float decay;
  float momentum;
  // Whether this is the optimizer's first step: 1 or 0. Not a bool, because the
  // size of bool depends on the compiler.
  int first_step;
  int nesterov;

  __device__ float operator()(const UpdateArrays& arrays, int64_t i,
                              float g) const {
    const float weight = arrays.weights[i];
    g += decay * weight;
    if (momentum != 0) {
      // In the first step the velocity (SGD's momentum buffer, arrays.first) is
      // the gradient itself.
      const float v = first_step != 0 ? g : momentum * arrays.first[i] + g;
      arrays.first[i] = v;
      g = nesterov != 0 ? g + momentum * v : v;
    }
    return weight - rate * g;
  }
};

template <typename Rule, typename Gradient, typename Value>
__global__ void UpdateEach(Rule rule, float factor, UpdateArrays arrays,
                           const Gradient* gradient, Value* values) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= arrays.count) return;
  const float weight = rule(arrays, i, ToFloat(gradient[i]) * factor);
  arrays.weights[i] = weight;
  if (values != nullptr) Put(Rounded(weight, arrays.precision), &values[i]);
}

template <typename Rule>
void Run(const Rule& rule, const OptimizerStep& step,
         const UpdateArrays& arrays, CudaStream stream) {
  const Grid grid{.blocks = DividedUp(arrays.count, kThreads),
                  .threads = kThreads};
  const auto factor = static_cast<float>(step.gradient_factor);
  WithElements(const_cast<void*>(arrays.gradient), arrays.gradient_type,
               [&](auto* gradient) {
                 WithElements(
                     arrays.values, arrays.values_type, [&](auto* values) {
                       using G = std::remove_pointer_t<decltype(gradient)>;
                       using V = std::remove_pointer_t<decltype(values)>;
                       Launch(UpdateEach<Rule, G, V>, grid, stream, rule,
                              factor, arrays, gradient, values);
                     });
               });
}

}  // namespace

void AdamWUpdate(const AdamWOptions& options, const OptimizerStep& step,
                 const UpdateArrays& arrays, CudaStream stream) {
  const auto number = static_cast<double>(step.step);
  const double mean_bias = 1 - std::pow(options.beta1, number);
  const double square_bias = 1 - std::pow(options.beta2, number);
  Run(AdamW{.keep = static_cast<float>(1 - step.learning_rate *
                                               options.weight_decay),
            .beta2 = static_cast<float>(options.beta2),
            .new_mean = static_cast<float>(1 - options.beta1),
            .new_square = static_cast<float>(1 - options.beta2),
            .epsilon = static_cast<float>(options.epsilon),
            .root_bias = static_cast<float>(std::sqrt(square_bias)),
            .size = static_cast<float>(step.learning_rate / mean_bias)},
      step, arrays, stream);
}

void SgdUpdate(const SgdOptions& options, const OptimizerStep& step,
               const UpdateArrays& arrays, CudaStream stream) {
  Run(Sgd{.rate = static_cast<float>(step.learning_rate),
          .decay = static_cast<float>(options.weight_decay),
          .momentum = static_cast<float>(options.momentum),
          .first_step = step.step == 1 ? 1 : 0,
          .nesterov =
              options.lookahead == SgdOptions::Lookahead::kNesterov ? 1 : 0},
      step, arrays, stream);
}

}  // namespace muster::cuda
