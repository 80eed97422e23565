#ifndef MUSTER_BASE_FILE_BELOW_H_
#define MUSTER_BASE_FILE_BELOW_H_

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"

namespace muster {

// The functions below open a file or folder below `root`, a folder that the
// user has given and in which other users may write, too. Links in the path
// `root` itself are followed. Below `root`, another user may have placed a link
// to a file that only this user can write. Therefore, below `root`,
//   - a symbolic link is followed only if this user or the superuser owns it,
//   - a folder or file is used only if one of three users owns it: this user,
//     the owner of the folder `root`, or the user whom the file system makes
//     the owner of this process's new files. (On some network file systems that
//     is another user than this one.)
// The owner is checked on the opened descriptor, so that a folder which another
// user replaces meanwhile is not used.

// Opens the folder `path` and creates the folders that are missing. `path` is
// `root` or lies below it. The descriptor is opened with O_PATH: it cannot be
// read, but openat(2), renameat(2) and similar calls accept it as their folder.
//    PermissionDenied  a link, folder or file belongs to another user, or the
//                      system denies access
//    other codes       those of PathStatus (base/folder.h)
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
