#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_SLICE_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_SLICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer_sdk/process_group/dtype.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// A tensor of the model or of its optimizer, as a whole. No rank needs to hold
// all of it.
struct CheckpointTensor {
  // UTF-8, 1 to 1024 bytes.
  std::string name = {};
  DType dtype = DType::kFloat32;
  // Shape of the whole tensor; empty: one element.
  std::vector<int64_t> shape = {};

  // Number of elements; 0 if a dimension is 0, -1 if the shape is invalid.
  int64_t count() const;

  bool operator==(const CheckpointTensor&) const = default;
};

// Elements [begin, end) of a tensor in row-major order, and their address on
// this rank. A list of slices describes any sharding: whole tensors on every
// rank (DDP), ranges (ZeRO), some of the tensors (a pipeline stage). The same
// list serves to save and to load.
struct CheckpointSlice {
  CheckpointTensor tensor = {};
  int64_t begin = 0;
  int64_t end = 0;
  // Address of element `begin`, in host memory. Saving only reads it.
  void* data = nullptr;
};

// A slice of the whole value of `tensor`. If the value's number of elements
// differs from the shape's, the slice has a null address, so that Save and Read
// reject it.
CheckpointSlice WholeTensor(const Tensor& tensor);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_SLICE_H_
