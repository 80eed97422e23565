#ifndef MUSTER_MODELS_CUDA_KERNELS_ADAMW_H_
#define MUSTER_MODELS_CUDA_KERNELS_ADAMW_H_

#include <cstdint>

#include "models/cuda/kernels/cuda_stream.h"
#include "trainer_sdk/optim/adamw.h"
#include "trainer_sdk/optim/update_rule.h"

namespace muster::cuda {

// The arrays that a step changes, `count` elements each. `working` is the copy
// that the passes read, rounded from the float32 weights: steps are too small
// to change bfloat16 weights.
template <typename T>
struct AdamWTensors {
  int64_t count = 0;
  const float* gradient = nullptr;
  float* weights = nullptr;
  float* mean = nullptr;
  float* square = nullptr;
  T* working = nullptr;
};

// As in optim/adamw.h, with gradients multiplied by step.gradient_factor first.
// T: float, Bfloat16.
template <typename T>
void AdamWStep(const AdamWOptions& options, const OptimizerStep& step,
               const AdamWTensors<T>& tensors, CudaStream stream);

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_ADAMW_H_
