#ifndef MUSTER_AGENT_LOGS_CONSOLE_WRITER_H_
#define MUSTER_AGENT_LOGS_CONSOLE_WRITER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "agent/logs/open_line.h"
#include "base/time.h"

namespace muster::agent {

// Writes to a terminal, pipe or file that may be slow, or that nobody reads.
// No call waits for the console but those that say so.
//
// Text waits in a queue, in order, for a thread of the writer's own, which
// starts with the first text. The queue is kept short by its producers: they
// look at HasRoom before they read more, so that a slow console slows the
// workers as a pipe does. Beyond `limit_bytes` text is dropped, counted, and a
// line in its place says so.
//
// A reader that has left (EPIPE, a terminal that was hung up) is no error:
// everything is discarded from then on. Any other error of a write, such as a
// full disk, loses that text and is counted; later writes are tried.
//
// Thread-safe.
class ConsoleWriter {
 public:
  enum class WhenFull { kWait, kDrop };
  struct Limits {
    size_t room_bytes = 4 << 20;    // HasRoom below this
    size_t limit_bytes = 64 << 20;  // text is dropped beyond this
    // kDrop: producers never wait. There is always room, and text beyond
    // `room_bytes` is dropped.
    WhenFull when_full = WhenFull::kWait;
  };

  // What did not reach the console, in bytes.
  struct Loss {
    int64_t unread = 0;  // discarded by GiveUp, or beyond the limit
    int64_t failed = 0;  // the write failed
    int error = 0;       // errno of the first failed write
  };

  enum class WaitEnd { kDone, kStalled };
  struct Patience {
    // How long the console may take nothing at all.
    Duration without_progress = Duration::zero();
    // Asked some 20 times a second: the number of signals so far that have
    // asked this process to end. After the first one the console may take
    // nothing for at most kAfterSignal, after a second one not at all. May be
    // empty.
    std::function<int()> end_signals;

    static constexpr Duration kAfterSignal = std::chrono::seconds(5);
    Duration Bound() const;
  };

  // Writes to what `fd` is open on; works on a copy, and leaves the flags that
  // other processes share alone.
  explicit ConsoleWriter(int fd) : ConsoleWriter(fd, Limits()) {}
  ConsoleWriter(int fd, Limits limits);

  // Discards what still waits: call Wait first.
  ~ConsoleWriter();

  ConsoleWriter(const ConsoleWriter&) = delete;
  ConsoleWriter& operator=(const ConsoleWriter&) = delete;

  // Queues whole lines: text that ends in "\n". They begin at the start of a
  // line.
  void Write(std::string lines);
  // The same for what workers wrote: discarded, and counted, after GiveUp.
  void WriteOutput(std::string lines);
  void WriteOutput(const LinePart& part);

  // Whether producers may go on. Once false, `on_room` is called when half of
  // the queue is free.
  bool HasRoom();
  // Whether less than half of the limit is queued.
  bool HasSpareRoom() const;
  // Called in the writer's thread or in GiveUp's. Set before the first Write.
  void SetOnRoom(std::function<void()> on_room);
  // Called once, in the writer's thread, when a write fails first.
  void SetOnError(std::function<void(int error)> on_error);

  // The time in which the console takes nothing counts from here on, if it does
  // not already: a console that a wait has found stalled is stalled for the
  // next wait too, until it takes something. For the waits below, which begin
  // with this; several writers that are waited for together begin together.
  void BeginWait(Instant now);
  // Waits until all that was queued has been written.
  WaitEnd Wait(const Patience& patience);
  // Waits until HasRoom.
  WaitEnd WaitForRoom(const Patience& patience);
  // The same with a bound on the time; whether all was written.
  bool Flush(Duration timeout);

  // Discards workers' output, what is queued and what will come. Lines of our
  // own (Write) are still queued.
  void GiveUp();

  Loss loss() const;
  // Bytes that have been written.
  int64_t written() const;

 private:
  enum class Source { kWorkers, kOurselves };
  struct State;

  void Queue(std::string lines, Source source);
  void StartThread();

  // Shared with the thread: where a write cannot be interrupted (an inherited
  // descriptor that cannot be opened anew), the thread may outlive the writer.
  std::shared_ptr<State> state_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_CONSOLE_WRITER_H_
