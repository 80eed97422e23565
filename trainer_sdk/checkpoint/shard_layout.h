#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_SHARD_LAYOUT_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_SHARD_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/slice_list.h"
#include "trainer_sdk/safetensors/safetensors_header.h"

namespace muster {

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

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_SHARD_LAYOUT_H_
