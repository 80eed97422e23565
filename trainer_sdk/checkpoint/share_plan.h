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

// Which rank writes which elements. Pure: every rank computes the same plan.
struct SharePlan {
  // All tensors, sorted by name.
  std::vector<CheckpointTensor> tensors;
  // By rank: the ranges that it writes, sorted by tensor and position. Together
  // the shares contain every element of every tensor exactly once.
  std::vector<std::vector<SliceRange>> shares;
  // Ranges that several ranks have, with these ranks in ascending order.
  struct Replicas {
    std::vector<int> owners;
    std::vector<SliceRange> ranges;
  };
  std::vector<Replicas> replicas;
};

// Makes a plan from all ranks' ranges, given by rank. Elements that several
// ranks have are divided among them, as evenly by bytes as whole elements
// allow. InvalidArgument: two ranks declare a tensor with different types or
// shapes (names both), or no rank has some elements.
absl::StatusOr<SharePlan> PlanShares(
    const std::vector<std::vector<SliceRange>>& ranks);

// The name of a rank's file: "rank-00003.safetensors".
std::string ShardFileName(int rank);

// The name of a range in a shard: the tensor's name if the range is the whole
// tensor, otherwise "NAME[BEGIN:END]". Names are unique: a whole tensor whose
// own name ends with a bracket gets its range too.
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

// Finds ranges in a rank's slices, which must outlive this object.
class SliceIndex {
 public:
  explicit SliceIndex(const std::vector<SliceRange>& own);

  // The copies that put `range`, which the rank must have, at offset `to` of
  // the shard. Slices may overlap: each element is copied once.
  std::vector<ShardCopy> CopiesOf(const SliceRange& range, int64_t to) const;

 private:
  const std::vector<SliceRange>& own_;
  std::multimap<std::string_view, size_t> by_name_;  // key: the tensor's name
};

// Lays out the share of one rank as a file. `own` are the rank's slices and
// must contain all of `share`. A whole tensor keeps its shape; a part of one is
// stored flat. InvalidArgument: a name is not UTF-8, or the header would be too
// large. Pure.
absl::StatusOr<ShardLayout> LayOutShard(const std::vector<SliceRange>& own,
                                        const std::vector<SliceRange>& share);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_SHARE_PLAN_H_
