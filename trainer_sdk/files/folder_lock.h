#ifndef MUSTER_TRAINER_SDK_FILES_FOLDER_LOCK_H_
#define MUSTER_TRAINER_SDK_FILES_FOLDER_LOCK_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "trainer_sdk/files/file_system.h"

namespace muster {

// FileSystem::Lock on a disk: a lock of the kernel's on FOLDER/.lock, which
// goes with the process that has it, however it ends; on NFS, when its server
// finds out. The file says which host and process that is, and stays.
// Where the file system has no locks (Lustre, unless it is mounted with them),
// nobody is kept out.
absl::StatusOr<std::unique_ptr<FolderLock>> LockFolder(
    const std::string& folder, LockDeadlines deadlines);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FILES_FOLDER_LOCK_H_
