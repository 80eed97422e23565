#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_SLICE_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_SLICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer_sdk/process_group/dtype.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// Name, type and shape of a whole tensor of the model or of its optimizer. No
// rank needs to hold all of the tensor.
struct CheckpointTensor {
  // The tensor's name, UTF-8, 1 to 1024 bytes.
  std::string name = {};
  DType dtype = DType::kFloat32;
  // Shape of the whole tensor; empty: one element.
  std::vector<int64_t> shape = {};

  // The number of elements; 0 if a dimension is 0, -1 if the shape is invalid.
  int64_t count() const;

  bool operator==(const CheckpointTensor&) const = default;
};

// Elements [begin, end) of a tensor in row-major order, and their address on
// this rank. A list of slices describes any sharding: whole tensors on every
// rank (DDP), ranges (ZeRO), some of the tensors (a pipeline stage). The same
// list is used for saving and loading.
struct CheckpointSlice {
  CheckpointTensor tensor = {};
  int64_t begin = 0;
  int64_t end = 0;
  // Address of the element `begin`, in host memory. Saving does not change the
  // elements.
  void* data = nullptr;
};

// Makes a slice of the whole value of `tensor`. If the value and the shape have
// different numbers of elements, the slice gets a null address, so that Save
// and Read reject it.
CheckpointSlice WholeTensor(const Tensor& tensor);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_SLICE_H_
