#ifndef MUSTER_TRAINER_SDK_DDP_GRADIENT_BUCKET_H_
#define MUSTER_TRAINER_SDK_DDP_GRADIENT_BUCKET_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "trainer_sdk/process_group/transport.h"

namespace muster {

// The gradients of some parameters, one behind the other, reduced as one.
struct GradientBucket {
  // Where one parameter's gradient lies: `count` elements from `offset` on.
  struct Part {
    int parameter = 0;
    int64_t offset = 0;
    int64_t count = 0;
    // As Tensor::rows.
    int64_t rows = 1;
  };

  // Its place in the order of reductions.
  int index = 0;
  DType dtype = DType::kFloat32;
  // In elements.
  int64_t count = 0;
  void* data = nullptr;
  std::vector<Part> parts;
  // What `data` points into.
  std::unique_ptr<TransportMemory> memory;

  void* at(const Part& part) const {
    return static_cast<char*>(data) + part.offset * SizeOf(dtype);
  }
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_GRADIENT_BUCKET_H_
