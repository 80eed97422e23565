#include "trainer_sdk/tensor/tensor.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trainer_sdk/safetensors/safetensors_header.h"

namespace muster {

int64_t Tensor::count() const { return CountOf(shape).value_or(-1); }

int64_t Tensor::rows() const {
  return shape.size() > 1 && count() > 0 ? shape[0] : 1;
}

absl::Status CheckData(const Tensor& tensor, const TensorData& data,
                       const char* what) {
  const int64_t count = tensor.count();
  const int64_t has = data.data == nullptr ? 0 : data.count;
  if (has == count) return absl::OkStatus();
  const std::string shape =
      absl::StrCat("tensor '", tensor.name, "' of shape [",
                   absl::StrJoin(tensor.shape, ","), "]");
  return absl::InvalidArgumentError(
      count < 0 ? absl::StrCat(shape, " cannot be")
                : absl::StrCat(shape, " has ", count, " elements, its ", what,
                               " ", has));
}

absl::Status CheckTensors(const std::vector<Tensor>& tensors) {
  std::set<std::string> names;
  for (const Tensor& tensor : tensors) {
    if (tensor.name.empty() || !names.insert(tensor.name).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "each tensor needs a name of its own, not '", tensor.name, "'"));
    }
    absl::Status status = CheckData(tensor, tensor.value, "value");
    status.Update(CheckData(tensor, tensor.gradient, "gradient"));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace muster
