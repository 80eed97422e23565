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

// Writes the pieces one behind the other as FOLDER/NAME and forces them to the
// disk.
absl::StatusOr<FileRecord> WriteRecordedFile(
    FileSystem& files, const std::string& folder, const std::string& name,
    const std::vector<std::string_view>& pieces);

// Reads the file once. DataLoss: it is not there, or has another size or
// checksum.
absl::Status VerifyFile(FileSystem& files, const std::string& folder,
                        const FileRecord& record);

// All of a file of at most `most` bytes. DataLoss: it is larger.
absl::StatusOr<std::string> ReadWholeFile(FileSystem& files,
                                          const std::string& path,
                                          int64_t most);

// FOLDER's manifest; where there is none, DataLoss.
absl::StatusOr<Manifest> ReadManifest(FileSystem& files,
                                      const std::string& folder);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_CHECKPOINT_FILES_H_
