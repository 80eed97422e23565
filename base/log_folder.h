#ifndef MUSTER_BASE_LOG_FOLDER_H_
#define MUSTER_BASE_LOG_FOLDER_H_

#include <string>

#include "absl/status/status.h"

namespace muster {

// Converts the errno `error` of an operation on `path` to PermissionDenied
// (permissions, read-only file system), ResourceExhausted (disk full, quota,
// `ulimit -f`, descriptors) or Internal, with the message "<doing> <path>:
// <text of errno>".
absl::Status PathStatus(const std::string& doing, const std::string& path,
                        int error);

// Creates the folder `path` and its parent folders. OK if the folder exists.
absl::Status CreateFolder(const std::string& path);

// Creates the folder `path`, and checks that data can be written to a file in
// it: on a full disk an empty file can often still be created. Leaves no file
// behind.
absl::Status CheckFolderWritable(const std::string& path);

}  // namespace muster

#endif  // MUSTER_BASE_LOG_FOLDER_H_
