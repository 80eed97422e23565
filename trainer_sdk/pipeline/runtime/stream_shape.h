#ifndef MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_STREAM_SHAPE_H_
#define MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_STREAM_SHAPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer_sdk/process_group/dtype.h"

namespace muster {

// The shape of one micro-batch's data between two stages; its gradient has the
// same shape.
struct StreamShape {
  DType dtype = DType::kFloat32;
  // Sizes from the slowest dimension to the fastest; at most kMostDimensions.
  std::vector<int64_t> sizes;

  static constexpr int kMostDimensions = 8;

  int64_t count() const {
    int64_t count = 1;
    for (const int64_t size : sizes) count *= size;
    return count;
  }
  int64_t bytes() const { return count() * SizeOf(dtype); }

  bool operator==(const StreamShape&) const = default;
};

// "float32[12, 64, 128]"
std::string ToString(const StreamShape& shape);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PIPELINE_RUNTIME_STREAM_SHAPE_H_
