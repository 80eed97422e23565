#ifndef MUSTER_LAUNCHER_TEMPORARY_FOLDER_H_
#define MUSTER_LAUNCHER_TEMPORARY_FOLDER_H_

#include <string>

#include "absl/status/status.h"

namespace muster::launcher {

// Creates the user's own folder around `directory` (".../muster_<uid>") with
// mode 0700. InvalidArgument: the folder belongs to another user, who could
// read or redirect the files; or another failure, with path and errno text.
absl::Status PrepareTemporaryFolder(const std::string& directory);

// Removes `directory` with its contents, and the folder around it if that is
// empty then. Ignores errors: files that cannot be removed stay.
void RemoveTemporaryFolder(const std::string& directory);

// Whether `directory` contains a file, at any depth.
bool HoldsFile(const std::string& directory);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_TEMPORARY_FOLDER_H_
