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

// The read end of one stream's pipe. Thread-safe: the relay's thread reads
// what comes, and whoever needs to have everything that is there now drains it.
class PipeReader {
 public:
  enum class Outcome {
    kOpen,   // Some process may still write.
    kEnded,  // No process holds the write end any more; the stream has ended.
  };

  // A pipe of about `capacity_bytes`, where the system allows, and its write
  // end, which the caller owns. ResourceExhausted: no descriptor is left.
  struct Made {
    std::shared_ptr<PipeReader> reader;
    int write_fd = -1;
    OwnedFd terminal;  // a pseudo-terminal's other end, once more
  };
  static absl::StatusOr<Made> Make(int capacity_bytes, WorkerStream stream);

  // The same with a pseudo-terminal like `terminal` in the pipe's place, whose
  // bytes go to `pass` as they are (none: the end), and to the stream.
  // Nothing: there is none to be had, and the stream is as it was.
  using Pass = std::function<void(std::string_view)>;
  static std::optional<Made> MakeTerminal(int terminal, Pass pass,
                                          WorkerStream* stream);

  PipeReader(int fd, WorkerStream stream, Pass pass = nullptr)
      : fd_(fd), pass_(std::move(pass)), stream_(std::move(stream)) {}
  ~PipeReader();

  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;

  // Adds the pipe to `epoll` under the name `id`, or takes it out; it goes by
  // itself when the stream ends. False: the stream has ended, or errno tells.
  bool Watch(int epoll, uint64_t id);
  bool Unwatch(int epoll);

  // Reads once, at most `buffer` full.
  Outcome ReadSome(std::span<char> buffer);

  // Reads what the pipe holds at this moment. Does not wait for the end, which
  // a grandchild that inherited the pipe may put off for ever, and is not held
  // up by one that goes on writing.
  Outcome Drain(std::span<char> buffer);

  std::vector<std::string> LastLines();

  // Whether the console takes more of this stream.
  bool HasRoom() const { return stream_.HasRoom(); }

  // See WorkerStream. A line of which more waits in the pipe is not shown yet.
  std::optional<Instant> NextDeadline();
  void TimePassed(Instant now);

 private:
  // The number of bytes read; 0 where none are there or the stream has ended.
  size_t ReadLocked(std::span<char> buffer);
  void EndLocked();
  Outcome OutcomeLocked() const;

  const int fd_;
  const Pass pass_;   // null but for a pseudo-terminal
  std::mutex mutex_;  // guards what follows
  bool ended_ = false;
  WorkerStream stream_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_PIPE_READER_H_
