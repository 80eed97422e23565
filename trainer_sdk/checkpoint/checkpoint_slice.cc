#include "trainer_sdk/checkpoint/checkpoint_slice.h"

#include <utility>

#include "trainer_sdk/safetensors/safetensors_header.h"

namespace muster {

int64_t CheckpointTensor::count() const { return CountOf(shape).value_or(-1); }

CheckpointSlice WholeTensor(CheckpointTensor tensor, void* data) {
  const int64_t count = tensor.count();
  return {.tensor = std::move(tensor), .begin = 0, .end = count, .data = data};
}

}  // namespace muster
