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

// What a rank's file is called: "rank-00003.safetensors".
std::string ShardFileName(int rank);

// What a range is called in a shard: the tensor's own name where it is all of
// it, and "NAME[BEGIN:END]" otherwise. No two ranges have one name: a whole
// tensor whose own name ends with a bracket gets its range too.
std::string ShardEntryName(const SliceRange& range);

// Some bytes of one of a rank's slices, and where in the data of its shard they
// go.
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

// Finds ranges in a rank's slices, which must outlive it.
class SliceIndex {
 public:
  explicit SliceIndex(const std::vector<SliceRange>& own);

  // What to copy for `range`, which the rank has, to `to` and on. Slices may
  // overlap: each element is taken once.
  std::vector<ShardCopy> CopiesOf(const SliceRange& range, int64_t to) const;

 private:
  const std::vector<SliceRange>& own_;
  std::multimap<std::string_view, size_t> by_name_;  // the tensor's
};

// How the rank whose slices are `own` puts its share into a file: pure. A whole
// tensor keeps its shape, a part of one is flat. `own` has all of the share.
// InvalidArgument: names that are no UTF-8, more than a header takes.
absl::StatusOr<ShardLayout> LayOutShard(const std::vector<SliceRange>& own,
                                        const std::vector<SliceRange>& share);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_SHARD_LAYOUT_H_
