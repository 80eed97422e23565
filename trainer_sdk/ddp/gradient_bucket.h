#ifndef MUSTER_TRAINER_SDK_DDP_GRADIENT_BUCKET_H_
#define MUSTER_TRAINER_SDK_DDP_GRADIENT_BUCKET_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "trainer_sdk/process_group/transport.h"

namespace muster {

// The gradients of several parameters in one contiguous buffer, reduced by one
// operation.
struct GradientBucket {
  // The position of one parameter's gradient: `count` elements from `offset`.
  struct Part {
    int parameter = 0;
    int64_t offset = 0;
    int64_t count = 0;
    // See Tensor::rows.
    int64_t rows = 1;
  };

  // Its position in the order of reductions, from 0.
  int index = 0;
  DType dtype = DType::kFloat32;
  // Number of elements.
  int64_t count = 0;
  void* data = nullptr;
  std::vector<Part> parts;
  // The memory that `data` points into.
  std::unique_ptr<TransportMemory> memory;

  void* at(const Part& part) const {
    return static_cast<char*>(data) + part.offset * SizeOf(dtype);
  }
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_GRADIENT_BUCKET_H_
