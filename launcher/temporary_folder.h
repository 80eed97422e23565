#ifndef MUSTER_LAUNCHER_TEMPORARY_FOLDER_H_
#define MUSTER_LAUNCHER_TEMPORARY_FOLDER_H_

#include <string>

#include "absl/status/status.h"

namespace muster::launcher {

// Makes the user's own folder around `directory` (".../muster_<uid>"), 0700.
// InvalidArgument if something there belongs to somebody else, who could read
// or redirect what is written; or with path and errno text.
absl::Status PrepareTemporaryFolder(const std::string& directory);

// Removes `directory` with all that is in it, and the folder around it if that
// is empty then. Says nothing: what cannot be removed stays.
void RemoveTemporaryFolder(const std::string& directory);

// Whether any file is in `directory` or below.
bool HoldsFile(const std::string& directory);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_TEMPORARY_FOLDER_H_
