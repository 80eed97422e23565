#include "trainer_sdk/checkpoint/checkpoint_slice.h"

#include "trainer_sdk/safetensors/safetensors_header.h"

namespace muster {

int64_t CheckpointTensor::count() const { return CountOf(shape).value_or(-1); }

CheckpointSlice WholeTensor(const Tensor& tensor) {
  return {.tensor = {.name = tensor.name,
                     .dtype = tensor.value.dtype,
                     .shape = tensor.shape},
          .begin = 0,
          .end = tensor.count(),
          .data = CheckData(tensor, tensor.value, "value").ok()
                      ? tensor.value.data
                      : nullptr};
}

}  // namespace muster
