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

// Writes FOLDER/NAME from `pieces`, concatenated, and calls fsync.
absl::StatusOr<FileRecord> WriteRecordedFile(
    FileSystem& files, const std::string& folder, const std::string& name,
    const std::vector<std::string_view>& pieces);

// Reads the whole file once. DataLoss: it does not exist, or its size or
// checksum differs.
absl::Status VerifyFile(FileSystem& files, const std::string& folder,
                        const FileRecord& record);

// Reads a whole file. DataLoss: the file has more than `most` bytes.
absl::StatusOr<std::string> ReadWholeFile(FileSystem& files,
                                          const std::string& path,
                                          int64_t most);

// Reads the manifest of `folder`. DataLoss: the folder has no valid manifest.
absl::StatusOr<Manifest> ReadManifest(FileSystem& files,
                                      const std::string& folder);

// The name of a checkpoint's folder: "step-00000100", and "step-00000100.2" if
// that step is saved again.
struct StepFolder {
  int64_t step = 0;
  int64_t attempt = 1;

  bool operator==(const StepFolder&) const = default;
};
std::string NameOf(StepFolder folder);
// Parses the name of a step's folder; nullopt if `name` has another form.
std::optional<StepFolder> StepFolderOf(std::string_view name);

// The folder of one step, with its manifest or the error of reading the
// manifest.
struct CheckpointEntry {
  std::string name;
  StepFolder folder;
  absl::StatusOr<Manifest> manifest;
};

// Lists the checkpoints of a directory, the one saved last first. Those without
// a readable manifest come before all others, because their age is unknown.
// NotFound: the directory does not exist.
absl::StatusOr<std::vector<CheckpointEntry>> ListCheckpoints(
    FileSystem& files, const std::string& directory);

// Makes the temporary folder in which a checkpoint is written, and returns its
// path. `nonce` makes the folder's name differ from those of folders that dead
// or dying writers left.
absl::StatusOr<std::string> BeginCheckpoint(FileSystem& files,
                                            const std::string& directory,
                                            int64_t step,
                                            const std::string& nonce);

// Turns a folder made by BeginCheckpoint into a checkpoint, and returns its
// final path. All files of the manifest must be in it and fsynced. Sets the
// manifest's serial. The checkpoint comes into existence when its folder is
// renamed; after a successful return it survives any crash. FailedPrecondition:
// a file is missing or has another size.
absl::StatusOr<std::string> CommitCheckpoint(FileSystem& files,
                                             const std::string& directory,
                                             const std::string& writing,
                                             Manifest manifest);

// Name and serial number of each checkpoint whose files are known to match its
// manifest.
using WholeCheckpoints = std::set<std::pair<std::string, int64_t>>;

// Removes all but the `keep` intact checkpoints that were saved last; `newest`
// is never removed and is assumed intact. Checkpoints with damaged files are
// removed too and do not count. Before a checkpoint is removed, the newer
// checkpoints that are kept are read and compared with their manifests, except
// checkpoints in `whole`. Checkpoints found intact are added to `whole`. A
// checkpoint that cannot be removed stays until the next call.
void PruneCheckpoints(FileSystem& files, const std::string& directory,
                      const std::string& newest, int keep,
                      WholeCheckpoints& whole);

// Removes unfinished checkpoints. No other process may write in the directory.
// Returns the path of each checkpoint that cannot be removed, with the reason;
// such leftovers do no harm. Fails if the directory cannot be listed.
absl::StatusOr<std::vector<std::string>> ClearLeftovers(
    FileSystem& files, const std::string& directory);

// The name of the file with which the ranks check that they see the same
// directory.
std::string MarkerName(const std::string& nonce);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_FOLDERS_H_
