#ifndef MUSTER_BASE_BOUNDED_FILE_H_
#define MUSTER_BASE_BOUNDED_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace muster {

// The bytes of the file at `path`, which somebody named. A pipe without a
// writer is an empty file; one with a writer is waited for, 10 s without a byte
// at most. NotFound: there is none; InvalidArgument: it is a folder, cannot be
// read, or is larger than `most_bytes`; the message is the reason alone.
absl::StatusOr<std::string> ReadBoundedFile(const std::string& path,
                                            size_t most_bytes);

}  // namespace muster

#endif  // MUSTER_BASE_BOUNDED_FILE_H_
