#ifndef MUSTER_AGENT_LOGS_PIPE_READER_H_
#define MUSTER_AGENT_LOGS_PIPE_READER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/logs/worker_stream.h"
#include "base/owned_fd.h"

namespace muster::agent {

// The read end of one stream's pipe. Thread-safe: the relay's thread reads new
// bytes, and other threads may drain the pipe.
class PipeReader {
 public:
  enum class Outcome {
    kOpen,   // some process still holds the write end
    kEnded,  // no process holds the write end: the stream has ended
  };

  // The result of Make and MakeTerminal: a new pipe's reader, and its write
  // end, which the caller owns. Make gives the pipe about `capacity_bytes`, if
  // the system allows it. ResourceExhausted: no free descriptor.
  struct Made {
    std::shared_ptr<PipeReader> reader;
    int write_fd = -1;
    // from MakeTerminal: a duplicate of the pseudo-terminal's controlling end;
    // from Make: closed
    OwnedFd terminal;
  };
  static absl::StatusOr<Made> Make(int capacity_bytes, WorkerStream stream);

  // Pass is the type of a callback that gets a worker's bytes unchanged, and an
  // empty text at their end.
  //
  // MakeTerminal is like Make, but makes a pseudo-terminal with the size and
  // input modes of the terminal `terminal`. The reader that it makes passes the
  // worker's bytes to `pass` and to `stream`. nullopt: no pseudo-terminal is
  // available; `stream` is unchanged, and `pass` was called with the empty
  // text.
  using Pass = std::function<void(std::string_view)>;
  static std::optional<Made> MakeTerminal(int terminal, Pass pass,
                                          WorkerStream* stream);

  PipeReader(int fd, WorkerStream stream, Pass pass = nullptr)
      : fd_(fd), pass_(std::move(pass)), stream_(std::move(stream)) {}
  ~PipeReader();

  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;

  // Watch adds the pipe to `epoll` with the identifier `id`. Unwatch removes
  // the pipe; the end of the stream removes it as well. Both return false if
  // the stream has ended, or if epoll_ctl fails; in the second case errno says
  // why.
  bool Watch(int epoll, uint64_t id);
  bool Unwatch(int epoll);

  // Reads from the pipe once, at most as many bytes as fit in `buffer`.
  Outcome ReadSome(std::span<char> buffer);

  // Reads the bytes that are in the pipe now. Does not wait for the end of the
  // stream: a grandchild that inherited the pipe may delay this end. Returns
  // even if a process keeps writing.
  Outcome Drain(std::span<char> buffer);

  std::vector<std::string> LastLines();

  // Whether the console and the files accept more output of this stream.
  bool HasRoom() const { return stream_.HasRoom(); }

  // The time for the next call of TimePassed; nullopt: there is no unfinished
  // line. TimePassed shows the unfinished line, but waits longer if the console
  // is full, or if the pipe holds more bytes, which may complete the line.
  std::optional<Instant> NextDeadline();
  void TimePassed(Instant now);

 private:
  // Returns the number of bytes read; 0 if the pipe is empty or the stream has
  // ended.
  size_t ReadLocked(std::span<char> buffer);
  void EndLocked();
  Outcome OutcomeLocked() const;

  const int fd_;
  // receives the unchanged bytes; set only for a pseudo-terminal
  const Pass pass_;
  std::mutex mutex_;  // guards the fields below
  bool ended_ = false;
  WorkerStream stream_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_PIPE_READER_H_
