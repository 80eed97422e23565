#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_SLICE_LIST_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_SLICE_LIST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"

namespace muster {

// What one rank has or wants, without where. Pure, like all of this file.
struct SliceRange {
  CheckpointTensor tensor;
  int64_t begin = 0;
  int64_t end = 0;

  bool operator==(const SliceRange&) const = default;
};

std::vector<SliceRange> RangesOf(const std::vector<CheckpointSlice>& slices);

// InvalidArgument: a name, shape or range that cannot be; which.
absl::Status CheckRange(const SliceRange& range);
// InvalidArgument: elements without a place.
absl::Status CheckPlaces(const std::vector<CheckpointSlice>& slices);
// Both, of all of them.
absl::Status CheckSlices(const std::vector<CheckpointSlice>& slices);

// "tensor 'a' (float32 [2,3])".
std::string Describe(const CheckpointTensor& tensor);

// As bytes for another rank, and back. DataLoss: bytes that are no such list.
std::string WriteRanges(const std::vector<SliceRange>& ranges);
absl::StatusOr<std::vector<SliceRange>> ReadRanges(std::string_view bytes);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_SLICE_LIST_H_
