#include "trainer_sdk/data_parallel/tensor.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"

namespace muster {

absl::Status CheckTensors(const std::vector<Tensor>& tensors) {
  std::set<std::string> names;
  for (const Tensor& tensor : tensors) {
    if (tensor.name.empty() || !names.insert(tensor.name).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "each tensor needs a name of its own, not '", tensor.name, "'"));
    }
    // -1: a shape that cannot be.
    const int64_t count =
        CheckpointTensor{.name = tensor.name, .shape = tensor.shape}.count();
    const auto value = static_cast<int64_t>(tensor.value.size());
    const auto gradient = static_cast<int64_t>(tensor.gradient.size());
    if (value != count || gradient != count) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tensor '", tensor.name, "' of shape [",
          absl::StrJoin(tensor.shape, ","), "] needs ", count,
          " elements; its value has ", value, " and its gradient ", gradient));
    }
  }
  return absl::OkStatus();
}

}  // namespace muster
