#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_SHARE_PLAN_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_SHARE_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/safetensors/safetensors_header.h"

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

// The plan of a checkpoint: which rank writes which elements. Every rank
// computes the same plan from the same ranges.
struct SharePlan {
  // All tensors, sorted by name.
  std::vector<CheckpointTensor> tensors;
  // Indexed by rank: the ranges that the rank writes, sorted by tensor and
  // position. The shares together contain every element of every tensor exactly
  // once.
  std::vector<std::vector<SliceRange>> shares;
  // Ranges of which several ranks hold a replica, and these ranks in ascending
  // order.
  struct Replicas {
    std::vector<int> owners;
    std::vector<SliceRange> ranges;
  };
  std::vector<Replicas> replicas;
};

// Makes a plan from the ranges that the ranks hold, indexed by rank. Elements
// that several ranks hold are divided among these ranks so that each writes
// about the same number of bytes. InvalidArgument: two ranks declare a tensor
// with different types or shapes (the message gives both), or some elements are
// on no rank.
absl::StatusOr<SharePlan> PlanShares(
    const std::vector<std::vector<SliceRange>>& ranks);

// The name of the file that `rank` writes: "rank-00003.safetensors".
std::string ShardFileName(int rank);

// The name under which a shard stores `range`: the tensor's name if the range
// is the whole tensor, otherwise "NAME[BEGIN:END]". If the tensor's name ends
// with ']', "[BEGIN:END]" is always appended, so that names are unique.
std::string ShardEntryName(const SliceRange& range);

// A copy of `bytes` bytes from the rank's slice number `slice`, beginning at
// offset `from` of the slice, to the data of the rank's shard, beginning at
// offset `to` of the data. Offsets are in bytes.
struct ShardCopy {
  size_t slice = 0;
  int64_t from = 0;
  int64_t to = 0;
  int64_t bytes = 0;
};

struct ShardLayout {
  SafetensorsHeader header;
  std::vector<ShardCopy> copies;
};

// An index of a rank's slices, which finds the slices that contain a range. The
// slices must outlive this object.
class SliceIndex {
 public:
  explicit SliceIndex(const std::vector<SliceRange>& own);

  // Returns the copies that write the elements of `range` to the shard's data,
  // from offset `to` (in bytes) on. The rank must have all of `range`. Slices
  // may overlap: each element is copied once.
  std::vector<ShardCopy> CopiesOf(const SliceRange& range, int64_t to) const;

 private:
  const std::vector<SliceRange>& own_;
  // Key: a tensor's name; value: index of a slice of that tensor.
  std::multimap<std::string_view, size_t> by_name_;
};

// Makes the layout of one rank's shard. `share` has the ranges to write, `own`
// the rank's slices, which must contain all of `share`. A whole tensor keeps
// its shape; a part of a tensor is stored as one dimension. InvalidArgument: a
// name is not UTF-8, or the header would be too large. Pure.
absl::StatusOr<ShardLayout> LayOutShard(const std::vector<SliceRange>& own,
                                        const std::vector<SliceRange>& share);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_SHARE_PLAN_H_
