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

// The steps of opening a checkpoint, shared by the single-process and the
// collective way.
class CheckpointOpening {
 public:
  // Compares with the manifest those of the checkpoint's files that rank `rank`
  // of `ranks` has to verify.
  static absl::Status Verify(FileSystem& files, const std::string& folder,
                             const Manifest& manifest, int rank, int ranks);

  // Reads and verifies the state file. The caller has verified all other files.
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> Make(
      FileSystem& files, const std::string& folder, Manifest manifest,
      std::vector<SkippedCheckpoint> skipped);

  // Whether the failure is due to the checkpoint itself, so that an older one
  // may be opened instead. Missing permissions or file descriptors are not: to
  // open an older checkpoint then would silently lose work.
  static bool IsBroken(const absl::Status& status);

  // The error when no checkpoint in the directory is intact.
  static absl::Status NoneIsWhole(
      const std::string& directory,
      const std::vector<SkippedCheckpoint>& skipped);
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_OPENING_H_
