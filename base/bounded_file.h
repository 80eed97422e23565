#ifndef MUSTER_BASE_BOUNDED_FILE_H_
#define MUSTER_BASE_BOUNDED_FILE_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace muster {

// Reads the whole file at `path`, a path that the user has given. A pipe is
// read until its writer closes it; a pipe without a writer counts as empty.
// NotFound: there is no such file. InvalidArgument: the file is a folder,
// cannot be read, is larger than `max_bytes`, or is a pipe whose writer sent no
// byte for 10 s. The message is the reason without the path.
absl::StatusOr<std::string> ReadBoundedFile(const std::string& path,
                                            size_t max_bytes);

// Like ReadBoundedFile, for a file that Muster looks for by itself, in a folder
// where other users may have placed it. PermissionDenied: the owner is neither
// this user nor root, or users other than the owner can write the file. The
// opened descriptor is checked, so that the file cannot be exchanged between
// the check and the read.
absl::StatusOr<std::string> ReadTrustedFile(const std::string& path,
                                            size_t max_bytes);

// Like ReadBoundedFile, for a descriptor that was opened with O_NONBLOCK. If
// the file is larger than `max_bytes`, the rest is left unread.
absl::StatusOr<std::string> ReadAtMost(int fd, size_t max_bytes);

// Reads up to `max_bytes` from the start of a file that the kernel, a package
// or a worker has written. If reading fails half-way, returns the data read
// before the error, because a part of such a file is useful too. Does not
// block: a pipe gives the bytes that are in the pipe. nullopt: the file cannot
// be read.
std::optional<std::string> ReadBeginning(const std::string& path,
                                         size_t max_bytes);

// Like ReadBeginning with a path, for a descriptor that was opened with
// O_NONBLOCK. nullopt if `fd` is -1, as after a failed open.
std::optional<std::string> ReadBeginning(int fd, size_t max_bytes);

}  // namespace muster

#endif  // MUSTER_BASE_BOUNDED_FILE_H_
