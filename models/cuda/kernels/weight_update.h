#ifndef MUSTER_MODELS_CUDA_KERNELS_WEIGHT_UPDATE_H_
#define MUSTER_MODELS_CUDA_KERNELS_WEIGHT_UPDATE_H_

#include <cstdint>

#include "models/cuda/kernels/cuda_stream.h"
#include "trainer_sdk/optim/update_rule.h"
#include "trainer_sdk/process_group/dtype.h"

namespace muster::models::cuda {

// The arrays of one update, `count` elements each, in device memory.
struct UpdateArrays {
  int64_t count = 0;
  // float32, bfloat16 or float16.
  const void* gradient = nullptr;
  DType gradient_type = DType::kFloat32;
  float* weights = nullptr;
  // The optimizer's state: `first` and, for AdamW, `second`.
  float* first = nullptr;
  float* second = nullptr;
  // Receives the new weights, rounded to `precision`. Null: not wanted.
  void* values = nullptr;
  DType values_type = DType::kFloat32;
  DType precision = DType::kFloat32;
};

// As in trainer_sdk/optim/update_rule.h, with gradients multiplied by
// step.gradient_factor first.
void AdamWUpdate(const AdamWOptions& options, const OptimizerStep& step,
                 const UpdateArrays& arrays, CudaStream stream);
void SgdUpdate(const SgdOptions& options, const OptimizerStep& step,
               const UpdateArrays& arrays, CudaStream stream);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_WEIGHT_UPDATE_H_
