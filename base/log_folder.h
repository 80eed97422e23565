#ifndef MUSTER_BASE_LOG_FOLDER_H_
#define MUSTER_BASE_LOG_FOLDER_H_

#include <string>

#include "absl/status/status.h"

namespace muster {

// What errno `error` of an operation on `path` means: PermissionDenied (rights,
// read-only file system), ResourceExhausted (full, quota, descriptors) or
// Internal, with "<doing> <path>: <text of errno>".
absl::Status PathStatus(const std::string& doing, const std::string& path,
                        int error);

// Makes `path` and the folders above it; nothing to do where it exists.
absl::Status CreateFolder(const std::string& path);

// Makes the folder and proves that a file in it takes bytes: on a full file
// system an empty one can often still be made. Leaves no file behind.
absl::Status CheckFolderWritable(const std::string& path);

}  // namespace muster

#endif  // MUSTER_BASE_LOG_FOLDER_H_
