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
#include "trainer_sdk/process_group/element_range.h"

namespace muster {

// Contiguous elements in the host's memory, which belongs to the caller: a
// std::span whose element type is a value, because C++ has no type for bfloat16
// and float16.
struct TensorData {
  TensorData() = default;
  TensorData(void* first, int64_t elements, DType type)
      : data(first), count(elements), dtype(type) {}
  template <typename T>
  requires(DTypeOf<T>().has_value()) TensorData(T* first, int64_t elements)
      : data(first), count(elements), dtype(*DTypeOf<T>()) {}
  // A std::vector, std::array, std::span or C array that may be changed.
  template <ElementRange Range>
  requires(!std::is_const_v<std::remove_reference_t<
               std::ranges::range_reference_t<Range>>>) explicit(false)
      TensorData(Range&& range)
      : TensorData(std::ranges::data(range), std::ranges::ssize(range)) {}

  void* data = nullptr;
  // Elements.
  int64_t count = 0;
  DType dtype = DType::kFloat32;
};

// One tensor of a model. Everything that takes tensors takes this declaration
// and reads the fields that it needs: BroadcastParameters and WholeTensor
// (checkpoints) the value, Reducer the gradient, optimizers the value, the
// decay and the precision. The index in a list of tensors is the tensor's
// number in all calls.
struct Tensor {
  // The same on every rank; in messages and checkpoints.
  std::string name = {};
  // The number of elements is the product; no dimension: one element.
  std::vector<int64_t> shape = {};
  // As many elements each as the shape has.
  TensorData value = {};
  // May be empty for a Reducer with GradientPlace::kBucket, which reads only
  // the type of its elements.
  TensorData gradient = {};
  WeightDecay decay = WeightDecay::kApplied;
  // float32: the optimizer changes the values themselves. bfloat16, float16:
  // the optimizer keeps a float32 copy of the values (the master weights), and
  // writes it, rounded to this type, to `value`, whose elements are of this
  // type or float32.
  DType precision = DType::kFloat32;

  // Elements of the shape; -1 for a shape that cannot be.
  int64_t count() const;
  // The first dimension where there are several, else 1: hooks that compress
  // gradients treat a tensor as a matrix of so many rows.
  int64_t rows() const;
};

// InvalidArgument: `data`, called `what` in the message ("gradient"), has not
// as many elements as the tensor's shape. Pure.
absl::Status CheckData(const Tensor& tensor, const TensorData& data,
                       const char* what);

// InvalidArgument: a name that is empty or comes twice, or a value or gradient
// that CheckData refuses. Pure.
absl::Status CheckTensors(const std::vector<Tensor>& tensors);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TENSOR_TENSOR_H_
