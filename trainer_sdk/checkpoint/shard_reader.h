#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_SHARD_READER_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_SHARD_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/checkpoint/manifest.h"
#include "trainer_sdk/checkpoint/slice_list.h"
#include "trainer_sdk/files/file_system.h"

namespace muster {

// One read of a shard: some bytes of a stored range, and their destination.
struct ShardRead {
  SliceRange stored;
  int64_t offset = 0;
  int64_t bytes = 0;
  char* out = nullptr;
};

// Performs all reads of one shard. DataLoss: the shard does not match the
// manifest.
absl::Status ReadShard(FileSystem& files, const std::string& folder,
                       const FileRecord& record,
                       const std::vector<ShardRead>& reads);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_SHARD_READER_H_
