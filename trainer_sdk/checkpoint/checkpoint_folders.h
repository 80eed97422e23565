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

// What a checkpoint's folder is called: "step-00000100", and "step-00000100.2"
// where a step is saved again.
struct StepFolder {
  int64_t step = 0;
  int64_t attempt = 1;

  bool operator==(const StepFolder&) const = default;
};
std::string NameOf(StepFolder folder);
// Nothing for what is called otherwise.
std::optional<StepFolder> StepFolderOf(std::string_view name);

// A folder of a step, and what its manifest says, or why there is none to read.
struct CheckpointEntry {
  std::string name;
  StepFolder folder;
  absl::StatusOr<Manifest> manifest;
};

// All of a directory, the one saved last first; before them those whose
// manifest cannot be read, as nobody knows when they were saved. NotFound: no
// such directory.
absl::StatusOr<std::vector<CheckpointEntry>> ListCheckpoints(
    FileSystem& files, const std::string& directory);

// Makes the folder that a checkpoint is written in; `nonce` tells it from one
// of a writer that is dead, or nearly. Its path.
absl::StatusOr<std::string> BeginCheckpoint(FileSystem& files,
                                            const std::string& directory,
                                            int64_t step,
                                            const std::string& nonce);

// Makes a checkpoint of a folder that BeginCheckpoint made and that has all of
// the manifest's files, forced to the disk. The serial is filled in here. When
// this has returned without an error, the checkpoint stays whatever happens;
// before its folder is renamed, there is none. The path it has now.
// FailedPrecondition: a file is not there, or has another size.
absl::StatusOr<std::string> CommitCheckpoint(FileSystem& files,
                                             const std::string& directory,
                                             const std::string& writing,
                                             Manifest manifest);

// Checkpoints whose files have been compared with their manifests, by name and
// serial.
using WholeCheckpoints = std::set<std::pair<std::string, int64_t>>;

// Removes all but the `keep` whole checkpoints saved last; the one called
// `newest` never. A checkpoint whose files are damaged does not count, and goes
// as well. Before a checkpoint is removed, those that are kept in its place are
// read and compared with their manifests, unless they are in `whole`, which
// takes them up; `newest` is believed to be whole. What cannot be removed stays
// for the next time, when it is tried again.
void PruneCheckpoints(FileSystem& files, const std::string& directory,
                      const std::string& newest, int keep,
                      WholeCheckpoints& whole);

// Removes what was not finished: nobody else writes in the directory. What
// cannot be removed is in nobody's way: each one's path, and why it stays. An
// error: the directory cannot be listed.
absl::StatusOr<std::vector<std::string>> ClearLeftovers(
    FileSystem& files, const std::string& directory);

// The name of a file by which ranks see that they have the same directory.
std::string MarkerName(const std::string& nonce);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_FOLDERS_H_
