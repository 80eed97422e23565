#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_JOINT_SAVE_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_JOINT_SAVE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "trainer_sdk/checkpoint/checkpoint_folders.h"
#include "trainer_sdk/checkpoint/shard_layout.h"
#include "trainer_sdk/checkpoint/share_plan.h"
#include "trainer_sdk/files/file_system.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// What the ranks write together: the same plan on each, and each its share.
struct JointSave {
  std::string directory;
  int keep = 0;
  int64_t step = 0;
  // Rank 0's.
  std::string state;
  const SharePlan* plan = nullptr;
  // This rank's, or what keeps it from writing.
  absl::Status ready;
  const ShardLayout* layout = nullptr;
  std::string_view data;
  // Of this rank's replicas (replica_check.h).
  std::string digests;
  // Rank 0's, kept from save to save: checkpoints that are known to be whole.
  WholeCheckpoints* whole = nullptr;
};

// Collective: writes a checkpoint. Whether it is there, on every rank; errors
// are InvalidArgument..., with the rank, the file and what the system said, or
// the group's.
absl::Status SaveTogether(ProcessGroup& group, FileSystem& files,
                          const JointSave& save, CallOptions call);

// A word that no other writer uses: it tells folders of writers apart.
std::string NewNonce();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_JOINT_SAVE_H_
