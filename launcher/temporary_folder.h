#ifndef MUSTER_LAUNCHER_TEMPORARY_FOLDER_H_
#define MUSTER_LAUNCHER_TEMPORARY_FOLDER_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster::launcher {

// Creates the folder of a job's temporary files with mode 0700 and returns its
// path. The path is `directory` (".../muster_<uid>/NAME"). If another user has
// taken the name muster_<uid>, the folder NAME is created in another folder of
// this user (base/folder.h). InvalidArgument: the folder cannot be
// created; the message has the path, errno's text and what to do.
absl::StatusOr<std::string> MakeTemporaryFolder(const std::string& directory);

// Removes `directory` with its contents. If its parent folder is empty after
// that, removes the parent folder as well. Ignores errors: files that cannot be
// removed stay.
void RemoveTemporaryFolder(const std::string& directory);

// Whether `directory` contains a file, at any depth.
bool HoldsFile(const std::string& directory);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_TEMPORARY_FOLDER_H_
