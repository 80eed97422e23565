#ifndef MUSTER_AGENT_COMMANDS_CHILD_PROGRAM_H_
#define MUSTER_AGENT_COMMANDS_CHILD_PROGRAM_H_

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster::agent {

// A child process for work that must not be done in the agent. An example is
// loading NCCL, which starts threads. The agent and the child exchange lines
// through the child's stdin and stdout. The destructor kills the child. The
// child is not a worker: the agent's clean-up after the guardian's death does
// not kill it. Not thread-safe.
class ChildProgram {
 public:
  // The maximum length of a line of output.
  static constexpr size_t kMaxLine = 4096;

  // Starts `program` with one argument and the environment `environment`
  // (NAME=VALUE), in a session of its own, so that a Ctrl-C at the terminal
  // does not end it. Internal: names the step that failed.
  static absl::StatusOr<std::unique_ptr<ChildProgram>> Start(
      const std::string& program, const std::string& argument,
      const std::vector<std::string>& environment);
  // Kills the program, and waits a short time for its exit.
  ~ChildProgram();
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  pid_t pid() const { return pid_; }
  // A descriptor that becomes readable when the program has written or exited.
  int fd() const { return output_.get(); }

  // The current line of the program's output, as far as it has arrived.
  // `whole`: no more text will be added to the line, because it is complete, it
  // is longer than kMaxLine, or the output has ended.
  struct Line {
    std::string text;
    bool whole = false;
  };
  // Returns the current line: the first one, until Advance is called. Does not
  // block.
  const Line& Read();
  // Goes on to the next line: Read then returns the line that follows the
  // current one. Call it only if the current line is whole.
  void Advance();
  // Writes `line` and a newline to the program's stdin. Unavailable: the
  // program has exited.
  absl::Status Write(const std::string& line);

  // Kills the program, and waits at most `limit` for its exit.
  void Stop(Duration limit);
  // How the program ended, such as "was killed by SIGKILL"; nullopt while it
  // runs. Discards its unread output. Blocks only for the short time until the
  // program can be reaped.
  std::optional<std::string> End();

 private:
  ChildProgram(pid_t pid, OwnedFd input, OwnedFd output);

  const pid_t pid_;
  // write end of the program's stdin; closing it ends the program
  OwnedFd input_;
  // read end of the program's stdout; end of file: the program has exited
  OwnedFd output_;
  Line line_;
  std::string rest_;  // output after the current line
  std::string end_;   // how the program ended; set once it has been reaped
};

// Prepares this process, which ChildProgram::Start has started. Returns a
// descriptor for the lines to the parent process. Stdout becomes a copy of
// stderr, so that the output of libraries does not mix with these lines. The
// process gets the name `name`. The kernel kills it when the thread that
// started it ends. All inherited descriptors above 2 (a reserved port, a log)
// are closed.
OwnedFd BecomeChildProgram(const char* name);

// Writes `line` and a newline to `output`; newlines within `line` become
// spaces. Returns false if the write failed.
bool WriteLine(const OwnedFd& output, std::string line);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_COMMANDS_CHILD_PROGRAM_H_
