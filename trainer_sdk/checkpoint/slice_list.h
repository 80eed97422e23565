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

// A range of elements of a tensor: a CheckpointSlice without its memory
// address. All functions of this file are pure.
struct SliceRange {
  CheckpointTensor tensor;
  int64_t begin = 0;
  int64_t end = 0;

  bool operator==(const SliceRange&) const = default;
};

std::vector<SliceRange> RangesOf(const std::vector<CheckpointSlice>& slices);

// Checks a range. InvalidArgument: the range has an invalid name, shape, begin
// or end; the message says which.
absl::Status CheckRange(const SliceRange& range);
// Checks the addresses of slices. InvalidArgument: a slice has elements but a
// null address.
absl::Status CheckPlaces(const std::vector<CheckpointSlice>& slices);
// Checks that slices can be saved or read: each has a valid range (CheckRange),
// and each that has elements has an address (CheckPlaces). InvalidArgument: a
// slice is wrong; the message says which.
absl::Status CheckSlices(const std::vector<CheckpointSlice>& slices);

// Describes a tensor in messages: "tensor 'a' (float32 [2,3])".
std::string Describe(const CheckpointTensor& tensor);

// WriteRanges encodes a list of ranges for another rank; ReadRanges decodes the
// list. DataLoss: the bytes are not such a list.
std::string WriteRanges(const std::vector<SliceRange>& ranges);
absl::StatusOr<std::vector<SliceRange>> ReadRanges(std::string_view bytes);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_SLICE_LIST_H_
