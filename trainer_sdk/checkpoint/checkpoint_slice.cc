#include "trainer_sdk/checkpoint/checkpoint_slice.h"

#include <utility>

namespace muster {

int64_t CheckpointTensor::count() const {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

CheckpointSlice WholeTensor(CheckpointTensor tensor, void* data) {
  const int64_t count = tensor.count();
  return {.tensor = std::move(tensor), .begin = 0, .end = count, .data = data};
}

}  // namespace muster
