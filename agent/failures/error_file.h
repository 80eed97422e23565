#ifndef MUSTER_AGENT_FAILURES_ERROR_FILE_H_
#define MUSTER_AGENT_FAILURES_ERROR_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster::agent {

// The content of $TORCHELASTIC_ERROR_FILE, which torchrun's @record decorator
// writes if a worker raises an exception
// (torch/distributed/elastic/multiprocessing/errors, error_handler.py). The
// texts come from the worker: any length, any characters.
struct ErrorFile {
  std::string message;  // exception and text: "ValueError: no such layer"
  std::string traceback;
  double unix_time = 0;  // time of the error in seconds since 1970; 0: unknown
};

inline constexpr size_t kMaxErrorFileBytes = 1 << 20;

// Parses the text of an error file. InvalidArgument: it is not JSON, or has no
// error message. Pure.
absl::StatusOr<ErrorFile> ParseErrorFile(std::string_view json);

// Reads the error file at `path`. NotFound: the worker wrote none.
// InvalidArgument: as for ParseErrorFile, or not a regular file.
// ResourceExhausted: longer than kMaxErrorFileBytes. Every message names the
// path. Never blocks on a pipe or a device.
//
// torchrun's decorator @record, which writes the error file, stores the time of
// the error in whole seconds. If the file was modified less than two seconds
// later, `unix_time` is the modification time, which is more exact.
absl::StatusOr<ErrorFile> ReadErrorFile(const std::string& path);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_FAILURES_ERROR_FILE_H_
