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

// The input of one collective save. The plan is the same on all ranks; each
// writes its own share.
struct JointSave {
  std::string directory;
  int keep = 0;
  int64_t step = 0;
  // Used on rank 0 only.
  std::string state;
  const SharePlan* plan = nullptr;
  // OK, or the reason why this rank cannot write.
  absl::Status ready;
  const ShardLayout* layout = nullptr;
  std::string_view data;
  // Digests of this rank's replicas (replica_check.h).
  std::string digests;
  // Used on rank 0 only, and kept from save to save: checkpoints that are known
  // to be intact.
  WholeCheckpoints* whole = nullptr;
};

// Collective and blocking: writes a checkpoint. Returns the same result on
// every rank: OK once the checkpoint exists; otherwise InvalidArgument or a
// file error that names the rank, the file and the system's error, or an error
// of the group.
absl::Status SaveTogether(ProcessGroup& group, FileSystem& files,
                          const JointSave& save, CallOptions call);

// A random word that distinguishes the temporary folders of different writers.
std::string NewNonce();

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_JOINT_SAVE_H_
