#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_FOLDERS_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_FOLDERS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/checkpoint/manifest.h"
#include "trainer_sdk/files/file_system.h"

namespace muster {

// Writes the file FOLDER/NAME with the concatenated `pieces`, and calls fsync.
// Returns the file's size and checksum.
absl::StatusOr<FileRecord> WriteRecordedFile(
    FileSystem& files, const std::string& folder, const std::string& name,
    const std::vector<std::string_view>& pieces);

// Reads the file of `record` once and compares it with `record`. DataLoss: the
// file does not exist, or its size or checksum differs.
absl::Status VerifyFile(FileSystem& files, const std::string& folder,
                        const FileRecord& record);

// Reads a whole file of at most `most` bytes. DataLoss: the file is larger.
absl::StatusOr<std::string> ReadWholeFile(FileSystem& files,
                                          const std::string& path,
                                          int64_t most);

// Reads the manifest of `folder`. DataLoss: the folder has no valid manifest.
absl::StatusOr<Manifest> ReadManifest(FileSystem& files,
                                      const std::string& folder);

// The step and attempt in the name of a checkpoint's folder: "step-00000100",
// and "step-00000100.2" if that step is saved a second time.
struct StepFolder {
  int64_t step = 0;
  int64_t attempt = 1;

  bool operator==(const StepFolder&) const = default;
};
std::string NameOf(StepFolder folder);
// Parses the folder name of a checkpoint, such as "step-00000100.2"; nullopt if
// `name` has another form.
std::optional<StepFolder> StepFolderOf(std::string_view name);

// One checkpoint in a directory: its folder, and its manifest or the reason why
// the manifest cannot be read.
struct CheckpointEntry {
  std::string name;
  StepFolder folder;
  absl::StatusOr<Manifest> manifest;
};

// Lists the checkpoints of a directory, the last saved one first. Checkpoints
// without a readable manifest precede all others, because their age is unknown.
// NotFound: the directory does not exist.
absl::StatusOr<std::vector<CheckpointEntry>> ListCheckpoints(
    FileSystem& files, const std::string& directory);

// Makes the temporary folder in which a checkpoint is written, and returns its
// path. `nonce`: a random string (NewNonce) that distinguishes the folder from
// folders that other writers, dead or dying, have left.
absl::StatusOr<std::string> BeginCheckpoint(FileSystem& files,
                                            const std::string& directory,
                                            int64_t step,
                                            const std::string& nonce);

// Turns the folder `writing`, which BeginCheckpoint made, into a checkpoint,
// and returns its final path. All files of the manifest must be in the folder
// and fsynced. Gives the manifest a higher serial number than that of any
// readable checkpoint in `directory`. Renames the folder; from then on the
// checkpoint exists. Once this function has returned OK, the checkpoint
// survives any crash. FailedPrecondition: a file is missing or has another
// size.
absl::StatusOr<std::string> CommitCheckpoint(FileSystem& files,
                                             const std::string& directory,
                                             const std::string& writing,
                                             Manifest manifest);

// Checkpoints whose files are known to match their manifests: the folder's name
// and the manifest's serial number.
using WholeCheckpoints = std::set<std::pair<std::string, int64_t>>;

// Removes all but the last `keep` intact checkpoints. `newest` is assumed
// intact and is never removed. Damaged checkpoints are removed too and do not
// count towards `keep`. Before a checkpoint is removed, the newer checkpoints
// that stay are read and compared with their manifests. `whole`: checkpoints
// that are known to be intact, which are not read again; checkpoints found
// intact are added. A checkpoint that cannot be removed stays until the next
// call.
void PruneCheckpoints(FileSystem& files, const std::string& directory,
                      const std::string& newest, int keep,
                      WholeCheckpoints& whole);

// Removes what writers that died left behind: unfinished checkpoints,
// checkpoints that were being removed, and marker files (MarkerName). No other
// process may write in the directory. Returns a text for each file or folder
// that cannot be removed: its path and the reason. Such leftovers do no harm.
// Fails if the directory cannot be listed.
absl::StatusOr<std::vector<std::string>> ClearLeftovers(
    FileSystem& files, const std::string& directory);

// The name of a marker file: rank 0 creates this file in the directory of the
// checkpoints, and the other ranks look for it to check that they see the same
// directory.
std::string MarkerName(const std::string& nonce);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_FOLDERS_H_
