#ifndef MUSTER_TRAINER_SDK_TENSOR_TENSOR_H_
#define MUSTER_TRAINER_SDK_TENSOR_TENSOR_H_

#include <cstdint>
#include <ranges>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/optim/update_rule.h"
#include "trainer_sdk/process_group/dtype.h"
#include "trainer_sdk/process_group/element.h"

namespace muster {

// A reference to contiguous elements in the caller's memory: host memory or,
// for functions that take a Device, memory of that device. Like a std::span,
// but the element type is a runtime value, because C++ has no type for bfloat16
// and float16.
struct TensorData {
  TensorData() = default;
  TensorData(void* first, int64_t elements, DType type)
      : data(first), count(elements), dtype(type) {}
  template <typename T>
  requires(DTypeOf<T>().has_value()) TensorData(T* first, int64_t elements)
      : data(first), count(elements), dtype(*DTypeOf<T>()) {}
  // Refers to the elements of a std::vector, std::array, std::span or C array.
  // The elements must not be const.
  template <ElementRange Range>
  requires(!std::is_const_v<std::remove_reference_t<
               std::ranges::range_reference_t<Range>>>) explicit(false)
      TensorData(Range&& range)
      : TensorData(std::ranges::data(range), std::ranges::ssize(range)) {}

  void* data = nullptr;
  // Number of elements at `data`.
  int64_t count = 0;
  DType dtype = DType::kFloat32;
};

// One tensor of a model. Functions that take tensors use only the fields that
// they need. BroadcastParameters and WholeTensor (checkpoints) use the value;
// Reducer uses the gradient; optimizers use the value, the decay and the
// precision. In all calls, a tensor is identified by its index in the list of
// tensors.
struct Tensor {
  // Name of the tensor in messages and checkpoints; equal on all ranks.
  std::string name = {};
  // Sizes of the dimensions; empty: one element.
  std::vector<int64_t> shape = {};
  // The tensor's values. The number of values is the product of `shape`, and
  // the number of elements of `gradient` is the same.
  TensorData value = {};
  // The tensor's gradient. May be empty for a Reducer with
  // GradientPlace::kBucket, which uses only the element type.
  TensorData gradient = {};
  WeightDecay decay = WeightDecay::kApplied;
  // The type to which the values are rounded. float32: the optimizer updates
  // the values directly. bfloat16, float16: the optimizer keeps and updates
  // float32 copies (the master weights), and writes the copies to `value`,
  // rounded to this type. The elements of `value` have this type or float32.
  DType precision = DType::kFloat32;

  // The number of elements of a tensor with this shape; -1 if the shape is
  // invalid.
  int64_t count() const;
  // The size of the first dimension if there are several dimensions, otherwise
  // 1. Communication hooks that compress gradients treat the tensor as a matrix
  // with this number of rows.
  int64_t rows() const;
};

// Checks the number of elements. InvalidArgument: `data` has another number of
// elements than the tensor's shape. `what` is the name of `data` in the
// message, such as "gradient". Pure.
absl::Status CheckData(const Tensor& tensor, const TensorData& data,
                       const char* what);

// Checks a list of tensors. InvalidArgument: a name is empty or occurs twice,
// or CheckData rejects a value or gradient. Pure.
absl::Status CheckTensors(const std::vector<Tensor>& tensors);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TENSOR_TENSOR_H_
