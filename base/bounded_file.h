#ifndef MUSTER_BASE_BOUNDED_FILE_H_
#define MUSTER_BASE_BOUNDED_FILE_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace muster {

// The bytes of the file at `path`, which somebody named. A pipe without a
// writer is an empty file; one with a writer is waited for, 10 s without a byte
// at most. NotFound: there is none; InvalidArgument: it is a folder, cannot be
// read, or is larger than `most_bytes`; the message is the reason alone.
absl::StatusOr<std::string> ReadBoundedFile(const std::string& path,
                                            size_t most_bytes);

// The same of a file that was opened with O_NONBLOCK, whose rest is left unread
// where it is longer.
absl::StatusOr<std::string> ReadAtMost(int fd, size_t most_bytes);

// The first `most_bytes` of a file of the kernel, a package or a worker, where
// little is better than nothing: what came before an error counts. Nothing is
// waited for: a pipe gives what lies in it. nullopt: it cannot be read.
std::optional<std::string> ReadBeginning(const std::string& path,
                                         size_t most_bytes);

// The same of a file that was opened with O_NONBLOCK; -1: it could not be.
std::optional<std::string> ReadBeginning(int fd, size_t most_bytes);

}  // namespace muster

#endif  // MUSTER_BASE_BOUNDED_FILE_H_
