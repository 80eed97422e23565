#ifndef MUSTER_BASE_FILE_BELOW_H_
#define MUSTER_BASE_FILE_BELOW_H_

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"

namespace muster {

// Functions that open files in folders in which other users may write, too. The
// root is the folder that the user has given. Links in the root's own path are
// followed. Below the root another user may have placed a link to a file that
// only this user can write. Therefore, below the root,
//   - a symbolic link is followed only if this user or root owns it,
//   - a folder or file is used only if its owner is this user, the user who
//     owns the root, or the user who becomes the owner of new files that this
//     process creates in the same parent folder (not this user on some network
//     file systems).
// The owner is checked on the opened descriptor, so that a folder which another
// user replaces meanwhile is not used.

// Opens the folder `path` and creates the folders that are missing. `path` is
// `root` or lies below it. The descriptor can be used with openat(2) and
// renameat(2) alone (O_PATH).
//    PermissionDenied  a link, folder or file belongs to another user, or the
//                      system denies access
//    other codes       those of PathStatus (base/log_folder.h)
absl::StatusOr<OwnedFd> OpenFolderBelow(const std::string& root,
                                        const std::string& path);

// Opens the file `path` below `root` with `flags`. If the file is created, it
// gets `mode`. Creates the folders that are missing. The flags must not have
// O_TRUNC, because the owner is checked after the file has been opened. Errors:
// those of OpenFolderBelow.
absl::StatusOr<OwnedFd> OpenFileBelow(const std::string& root,
                                      const std::string& path, int flags,
                                      mode_t mode);

}  // namespace muster

#endif  // MUSTER_BASE_FILE_BELOW_H_
