#ifndef MUSTER_AGENT_FAILURES_ERROR_FILE_H_
#define MUSTER_AGENT_FAILURES_ERROR_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster::agent {

// What torchrun's @record decorator wrote of a worker's exception into
// $TORCHELASTIC_ERROR_FILE (torch/distributed/elastic/multiprocessing/errors,
// error_handler.py). Its texts are the worker's: unbounded, of any characters.
struct ErrorFile {
  std::string message;  // "ValueError: no such layer"
  std::string traceback;
  double unix_time = 0;  // 0: not told
};

inline constexpr size_t kMaxErrorFileBytes = 1 << 20;

// Reads the JSON. InvalidArgument: no JSON, or nothing in it that says what
// went wrong. Pure.
absl::StatusOr<ErrorFile> ParseErrorFile(std::string_view json);

// Reads the file. NotFound: the worker wrote none. InvalidArgument: as above,
// or no regular file. ResourceExhausted: longer than kMaxErrorFileBytes.
// Every message names the path. Never blocks on a pipe or a device. @record
// tells whole seconds; the file's own time, where it fits, is more exact.
absl::StatusOr<ErrorFile> ReadErrorFile(const std::string& path);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FAILURES_ERROR_FILE_H_
