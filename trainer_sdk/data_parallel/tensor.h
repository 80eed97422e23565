#ifndef MUSTER_TRAINER_SDK_DATA_PARALLEL_TENSOR_H_
#define MUSTER_TRAINER_SDK_DATA_PARALLEL_TENSOR_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/optim/update_rule.h"

namespace muster {

// A tensor that is trained: one declaration for averaging its gradient, for the
// optimizer and for checkpoints. Its memory is the caller's.
struct Tensor {
  // The same on every rank; in messages and checkpoints.
  std::string name = {};
  std::vector<int64_t> shape = {};
  // As many elements each as the shape has.
  std::span<float> value = {};
  std::span<float> gradient = {};
  WeightDecay decay = WeightDecay::kApplied;
};

// InvalidArgument: a name that is empty or comes twice, or a value or gradient
// that has not as many elements as the shape. Pure.
absl::Status CheckTensors(const std::vector<Tensor>& tensors);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DATA_PARALLEL_TENSOR_H_
