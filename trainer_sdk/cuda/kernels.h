#ifndef MUSTER_TRAINER_SDK_CUDA_KERNELS_H_
#define MUSTER_TRAINER_SDK_CUDA_KERNELS_H_

#include <cstdint>

#include "trainer_sdk/cuda/cuda_types.h"
#include "trainer_sdk/optim/update_rule.h"
#include "trainer_sdk/process_group/dtype.h"

// GPU kernels for the arithmetic of a Device. All arrays are in device memory;
// work is enqueued on `stream`. Elements are float32, bfloat16 or float16. An
// error becomes CUDA's last error of the calling thread.

namespace muster::cuda {

// Copies `count` elements of type `from_type` to elements of `to_type`, each
// rounded to the type `precision` (to nearest, ties to even). `from` and `to`
// may be the same buffer if the types are equal.
void Convert(const void* from, DType from_type, int64_t count, void* to,
             DType to_type, DType precision, CudaStream stream);

// Adds the squares of `count` elements to an exact sum. `words`: the sum, a
// fixed-point number with 32 bits in each 64-bit word (SquareSum::Words in
// trainer_sdk/optim/square_sum.h). The order of the elements does not matter.
// Each call adds less than 2^48 to a word. So SquareSum::Carry need not be
// called before some thousand calls of AddSquares.
void AddSquares(const void* values, DType type, int64_t count, int64_t* words,
                CudaStream stream);

// The arrays of one optimizer update; each has `count` elements.
struct UpdateArrays {
  int64_t count = 0;
  const void* gradient = nullptr;
  DType gradient_type = DType::kFloat32;
  float* weights = nullptr;
  // The optimizer's state: AdamW uses `first` and `second`, SGD only `first`.
  float* first = nullptr;
  float* second = nullptr;
  // The array that receives the new weights, rounded to `precision`; null if
  // the caller does not need them.
  void* values = nullptr;
  DType values_type = DType::kFloat32;
  DType precision = DType::kFloat32;
};

// Update the weights by the formulas of trainer_sdk/optim/update_rule.h.
// Gradients are first multiplied by step.gradient_factor.
void AdamWUpdate(const AdamWOptions& options, const OptimizerStep& step,
                 const UpdateArrays& arrays, CudaStream stream);
void SgdUpdate(const SgdOptions& options, const OptimizerStep& step,
               const UpdateArrays& arrays, CudaStream stream);

}  // namespace muster::cuda

#endif  // MUSTER_TRAINER_SDK_CUDA_KERNELS_H_
