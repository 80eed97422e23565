#ifndef MUSTER_TRAINER_SDK_DDP_PARAMETER_H_
#define MUSTER_TRAINER_SDK_DDP_PARAMETER_H_

#include <cstdint>
#include <string>

#include "trainer_sdk/process_group/dtype.h"

namespace muster {

// A parameter of the model, as far as averaging its gradient goes. The index
// in the list of parameters is its number everywhere.
struct DdpParameter {
  // For messages, and the same on every rank.
  std::string name = {};
  // Elements.
  int64_t count = 0;
  // Of the gradient.
  DType dtype = DType::kFloat32;
  // Where the gradient is, `count` elements, and where its average goes. Not
  // looked at where gradients lie in the buckets (GradientPlace::kBucket).
  void* gradient = nullptr;
  // The first dimension of the tensor, where there are more: hooks that
  // compress look at it as a matrix of so many rows. It divides `count`.
  int64_t rows = 1;

  int64_t bytes() const { return count * SizeOf(dtype); }
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_PARAMETER_H_
