#ifndef MUSTER_AGENT_LOGS_CONSOLE_WRITER_H_
#define MUSTER_AGENT_LOGS_CONSOLE_WRITER_H_

#include <cstddef>
#include <memory>
#include <string>

#include "base/time.h"

namespace muster {

// Writes lines to a terminal, pipe or file that others may be slow to read, or
// not read at all, without ever making the caller wait.
//
// Lines wait in a bounded queue for a thread of the writer's own, started with
// the first line. Those that do not fit are dropped and counted; a line in
// their place says how many. Order is kept, and each line goes out whole.
// Where nobody will read any more (EPIPE), everything is dropped quietly.
//
// Thread-safe.
class ConsoleWriter {
 public:
  static constexpr size_t kMostQueuedBytes = 4 << 20;

  // Writes to what `fd` is open on; works on a copy, and leaves the flags that
  // other processes share alone.
  explicit ConsoleWriter(int fd, size_t most_queued_bytes = kMostQueuedBytes);

  // Drops what still waits: call Flush first.
  ~ConsoleWriter();

  ConsoleWriter(const ConsoleWriter&) = delete;
  ConsoleWriter& operator=(const ConsoleWriter&) = delete;

  // Queues `line`, which ends in "\n". Does not block.
  void Write(std::string line);

  // Waits until all that was queued before has been written, at most `timeout`
  // long; whether it was.
  bool Flush(Duration timeout);

 private:
  struct State;
  // Shared with the thread: where a write cannot be interrupted (an inherited
  // descriptor that cannot be opened anew), the thread may outlive the writer.
  std::shared_ptr<State> state_;
};

}  // namespace muster

#endif  // MUSTER_AGENT_LOGS_CONSOLE_WRITER_H_
