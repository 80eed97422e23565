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

// A slice without its address. Pure, like all of this file.
struct SliceRange {
  CheckpointTensor tensor;
  int64_t begin = 0;
  int64_t end = 0;

  bool operator==(const SliceRange&) const = default;
};

std::vector<SliceRange> RangesOf(const std::vector<CheckpointSlice>& slices);

// InvalidArgument: an invalid name, shape or range; says which.
absl::Status CheckRange(const SliceRange& range);
// InvalidArgument: a slice has elements but a null address.
absl::Status CheckPlaces(const std::vector<CheckpointSlice>& slices);
// Performs both checks for every slice.
absl::Status CheckSlices(const std::vector<CheckpointSlice>& slices);

// "tensor 'a' (float32 [2,3])".
std::string Describe(const CheckpointTensor& tensor);

// Encodes a list of ranges for another rank, and back. Decoding gives DataLoss
// if the bytes are no such list.
std::string WriteRanges(const std::vector<SliceRange>& ranges);
absl::StatusOr<std::vector<SliceRange>> ReadRanges(std::string_view bytes);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_SLICE_LIST_H_
