#ifndef MUSTER_AGENT_GUARDIAN_OUTPUT_PIPE_H_
#define MUSTER_AGENT_GUARDIAN_OUTPUT_PIPE_H_

#include <string>

#include "base/owned_fd.h"

namespace muster::agent {

// Waits until `fd` is readable. Returns false after thirty seconds.
bool BecomesReadable(int fd);

// A pipe that a worker and all its descendants hold as stdout. The pipe carries
// their output, and its end of file shows that none of them is alive.
class OutputPipe {
 public:
  OutputPipe();
  // Opens a named pipe at `path`, for processes whose stdout the test cannot
  // choose.
  explicit OutputPipe(const std::string& path);

  int write_end() const { return write_.get(); }
  void CloseWriteEnd() { write_.Close(); }
  // Waits for the next line and returns it without its newline. If no line
  // arrives within thirty seconds, records a test failure and returns "".
  std::string Line();
  // Closes this process's write end. Then waits for end of file, that is, until
  // no other process holds the write end. Returns false if thirty seconds pass
  // without output and without end of file.
  bool EveryHolderGone();

 private:
  OwnedFd read_;
  OwnedFd write_;
  std::string buffer_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_OUTPUT_PIPE_H_
