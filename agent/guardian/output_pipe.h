#ifndef MUSTER_AGENT_GUARDIAN_OUTPUT_PIPE_H_
#define MUSTER_AGENT_GUARDIAN_OUTPUT_PIPE_H_

#include <string>

#include "base/owned_fd.h"

namespace muster::agent {

// Waits until `fd` can be read; false after half a minute, which only a broken
// program needs, or a machine that stands still.
bool BecomesReadable(int fd);

// A pipe that a worker and all its descendants hold as stdout: what they say,
// and, by its end of file, that none of them lives any more.
class OutputPipe {
 public:
  OutputPipe();
  // The same with a name in the file system, for those whose stdout is not the
  // test's to choose.
  explicit OutputPipe(const std::string& path);

  int write_end() const { return write_.get(); }
  void CloseWriteEnd() { write_.Close(); }
  // The next line without its end; empty with a test failure if none comes.
  std::string Line();
  // Whether every holder of the write end has gone, before the deadline.
  bool EveryHolderGone();

 private:
  OwnedFd read_;
  OwnedFd write_;
  std::string buffer_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_OUTPUT_PIPE_H_
