#ifndef MUSTER_TRAINER_SDK_CUDA_KERNELS_H_
#define MUSTER_TRAINER_SDK_CUDA_KERNELS_H_

#include <cstdint>

#include "trainer_sdk/cuda/cuda_types.h"
#include "trainer_sdk/optim/update_rule.h"
#include "trainer_sdk/process_group/dtype.h"

// The arithmetic of a Device as GPU kernels. All arrays are in device memory;
// work is enqueued on `stream`. Elements are float32, bfloat16 or float16. An
// error becomes CUDA's last error of the calling thread.

namespace muster::cuda {

// Copies `count` elements of type `from_type` to elements of `to_type`, each
// rounded to the type `precision` (to nearest, ties to even). `from` and `to`
// may be the same buffer if the types are equal.
void Convert(const void* from, DType from_type, int64_t count, void* to,
             DType to_type, DType precision, CudaStream stream);

// Adds the squares of `count` elements to the SquareSum::Words
// (trainer_sdk/optim/square_sum.h) at `words`. The sum is exact, so the order
// of additions does not matter. A call adds less than 2^48 to each word.
void AddSquares(const void* values, DType type, int64_t count, int64_t* words,
                CudaStream stream);

// The arrays of one update, `count` elements each.
struct UpdateArrays {
  int64_t count = 0;
  const void* gradient = nullptr;
  DType gradient_type = DType::kFloat32;
  float* weights = nullptr;
  // The optimizer's state: `first` and, for AdamW, `second`.
  float* first = nullptr;
  float* second = nullptr;
  // Receives the new weights, rounded to `precision`; null: the caller does not
  // need them.
  void* values = nullptr;
  DType values_type = DType::kFloat32;
  DType precision = DType::kFloat32;
};

// Perform the formulas of trainer_sdk/optim/update_rule.h. Gradients are first
// multiplied by step.gradient_factor.
void AdamWUpdate(const AdamWOptions& options, const OptimizerStep& step,
                 const UpdateArrays& arrays, CudaStream stream);
void SgdUpdate(const SgdOptions& options, const OptimizerStep& step,
               const UpdateArrays& arrays, CudaStream stream);

}  // namespace muster::cuda

#endif  // MUSTER_TRAINER_SDK_CUDA_KERNELS_H_
