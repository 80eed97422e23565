#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_OPENING_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_OPENING_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/checkpoint_reader.h"
#include "trainer_sdk/checkpoint/manifest.h"
#include "trainer_sdk/files/file_system.h"

namespace muster {

// The steps of opening a checkpoint, for one process or several.
class CheckpointOpening {
 public:
  // Compares those of the checkpoint's files that are rank `rank`'s of `ranks`
  // to verify with the manifest.
  static absl::Status Verify(FileSystem& files, const std::string& folder,
                             const Manifest& manifest, int rank, int ranks);

  // Reads and verifies the state; the rest is verified.
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> Make(
      FileSystem& files, const std::string& folder, Manifest manifest,
      std::vector<SkippedCheckpoint> skipped);

  // Whether the failure is the checkpoint's own, so that an older one may do.
  // Rights, or descriptors, are not: an older one in its place would quietly
  // throw work away.
  static bool IsBroken(const absl::Status& status);

  // For where none is whole.
  static absl::Status NoneIsWhole(
      const std::string& directory,
      const std::vector<SkippedCheckpoint>& skipped);
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_OPENING_H_
