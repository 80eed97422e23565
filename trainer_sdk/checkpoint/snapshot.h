#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_SNAPSHOT_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_SNAPSHOT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/checkpoint/shard_layout.h"

namespace muster {

// A copy of a rank's share at one moment: the data of its shard. The memory is
// reused by later saves.
class Snapshot {
 public:
  // Performs the copies of the layout. ResourceExhausted: not enough memory.
  absl::Status Take(const ShardLayout& layout,
                    const std::vector<CheckpointSlice>& slices);

  std::string_view bytes() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
  size_t room_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_SNAPSHOT_H_
