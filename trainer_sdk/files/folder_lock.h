#ifndef MUSTER_TRAINER_SDK_FILES_FOLDER_LOCK_H_
#define MUSTER_TRAINER_SDK_FILES_FOLDER_LOCK_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "trainer_sdk/files/file_system.h"

namespace muster {

// Implements FileSystem::Lock on a disk by a kernel lock on FOLDER/.lock. The
// lock ends with its process, however that ends; on NFS, once the server
// notices. The file contains the owner's host and process, and is not removed.
// On a file system without locks (Lustre, unless mounted with them) no process
// is kept out.
absl::StatusOr<std::unique_ptr<FolderLock>> LockFolder(
    const std::string& folder, LockDeadlines deadlines);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FILES_FOLDER_LOCK_H_
