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
#include "trainer_sdk/checkpoint/slice_list.h"
#include "trainer_sdk/safetensors/safetensors_header.h"

namespace muster {

// Which rank writes which elements of a checkpoint. Pure: every rank computes
// the same plan.
struct SharePlan {
  // All tensors, sorted by name.
  std::vector<CheckpointTensor> tensors;
  // Indexed by rank: the ranges that the rank writes, sorted by tensor and
  // position. The shares together contain every element of every tensor exactly
  // once.
  std::vector<std::vector<SliceRange>> shares;
  // Ranges that several ranks hold, and these ranks in ascending order.
  struct Replicas {
    std::vector<int> owners;
    std::vector<SliceRange> ranges;
  };
  std::vector<Replicas> replicas;
};

// Makes a plan from the ranges of all ranks, indexed by rank. Elements that
// several ranks hold are divided among these ranks so that each writes about
// the same number of bytes. InvalidArgument: two ranks declare a tensor with
// different types or shapes (names both), or some elements are in no rank's
// ranges.
absl::StatusOr<SharePlan> PlanShares(
    const std::vector<std::vector<SliceRange>>& ranks);

// The name of a rank's file: "rank-00003.safetensors".
std::string ShardFileName(int rank);

// The name of a range in a shard: the tensor's name if the range is the whole
// tensor, otherwise "NAME[BEGIN:END]". A whole tensor whose own name ends with
// a bracket gets its range as well, so that names are unique.
std::string ShardEntryName(const SliceRange& range);

// A copy of bytes from one of a rank's slices into the data of its shard.
// Offsets and length are in bytes.
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

// Finds ranges in a rank's slices. The slices must outlive this object.
class SliceIndex {
 public:
  explicit SliceIndex(const std::vector<SliceRange>& own);

  // The copies that put `range` at offset `to` of the shard. The rank must have
  // all of `range`. Slices may overlap: each element is copied once.
  std::vector<ShardCopy> CopiesOf(const SliceRange& range, int64_t to) const;

 private:
  const std::vector<SliceRange>& own_;
  std::multimap<std::string_view, size_t> by_name_;  // key: the tensor's name
};

// Lays out the share of one rank as a file. `own` has the rank's slices, which
// must contain all of `share`. A whole tensor keeps its shape; a part of one is
// stored flat. InvalidArgument: a name is not UTF-8, or the header would be too
// large. Pure.
absl::StatusOr<ShardLayout> LayOutShard(const std::vector<SliceRange>& own,
                                        const std::vector<SliceRange>& share);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_SHARE_PLAN_H_
