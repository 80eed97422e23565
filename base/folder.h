#ifndef MUSTER_BASE_FOLDER_H_
#define MUSTER_BASE_FOLDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

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

// This user's folder in a folder that users share, such as /tmp. Its name is
// muster_<uid>. If another user has taken that name, the name is muster_<uid>_
// and six random characters; a later call finds that folder by its owner.
//
// A folder is used only if this user owns it and no other user can write in it.
// A symbolic link is never used.

// Returns the path of the folder in `parent`, and creates the folder with mode
// 0700 if there is none. Errors: those of PathStatus.
absl::StatusOr<std::string> MakeUserFolder(const std::string& parent);

// The paths of all folders of this user in `parent`, muster_<uid> first.
std::vector<std::string> UserFolders(const std::string& parent);

}  // namespace muster

#endif  // MUSTER_BASE_FOLDER_H_
