#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_SLICE_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_SLICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer_sdk/process_group/dtype.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// One tensor of the whole model or of its optimizer, as no rank need have it
// in one piece.
struct CheckpointTensor {
  // UTF-8, not empty, of at most 1 KiB.
  std::string name = {};
  DType dtype = DType::kFloat32;
  // The whole tensor's. No dimension: one element.
  std::vector<int64_t> shape = {};

  // Elements; 0 where a dimension is 0, -1 for a shape that cannot be.
  int64_t count() const;

  bool operator==(const CheckpointTensor&) const = default;
};

// The elements [begin, end) of a tensor, flattened row by row, and where this
// rank has them or wants them. A list of these describes every sharding: whole
// tensors on every rank (DDP), ranges of them (ZeRO), some of them (a
// pipeline's stage). The same list serves for saving and for loading.
struct CheckpointSlice {
  CheckpointTensor tensor = {};
  int64_t begin = 0;
  int64_t end = 0;
  // Element `begin`, in the host's memory. Saving only reads it.
  void* data = nullptr;
};

// All of the tensor's value. Where the value has not as many elements as the
// shape, the slice has no place, so that Save and Read refuse it.
CheckpointSlice WholeTensor(const Tensor& tensor);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_SLICE_H_
