#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_FILES_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_FILES_H_

#include <string>
#include <string_view>
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

// Reads a whole file of at most `most` bytes. DataLoss: it is larger.
absl::StatusOr<std::string> ReadWholeFile(FileSystem& files,
                                          const std::string& path,
                                          int64_t most);

// Reads the manifest of `folder`. DataLoss: there is none.
absl::StatusOr<Manifest> ReadManifest(FileSystem& files,
                                      const std::string& folder);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_FILES_H_
