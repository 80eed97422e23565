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

// A new descriptor for the open file of `fd`; -1 if `fd` is closed.
//
// Pipes and terminals are opened again, non-blocking. O_NONBLOCK belongs to the
// open file description: on `fd` itself it would also affect the shell and
// every other program that shares it. Files that cannot be opened again
// (sockets, a terminal of another user) are duplicated and may block.
int OpenConsoleCopy(int fd);

// Whether both descriptors refer to the same file, pipe or terminal.
bool IsSameConsole(int fd, int other);

// Writes to a terminal, pipe or file that may be slow, or that has no reader.
// Calls do not wait for the console, except those that say so.
//
// A thread of the writer, started with the first text, writes the queued text
// in order. Producers keep the queue short: they check HasRoom before they read
// more, so that a slow console slows the workers down as a pipe does. Text
// beyond `limit_bytes` is dropped and counted, and a note appears in its place.
//
// A closed reader (EPIPE, a terminal that was hung up) is no error: all further
// text is discarded. After any other write error, such as a full disk, the text
// is lost and counted, and later writes are tried.
//
// Thread-safe.
class ConsoleWriter {
 public:
  enum class WhenFull { kWait, kDrop };
  struct Limits {
    size_t room_bytes = 4 << 20;    // HasRoom is true below this
    size_t limit_bytes = 64 << 20;  // text beyond this is dropped
    // kDrop: producers never wait. HasRoom is always true, and text beyond
    // `room_bytes` is dropped.
    WhenFull when_full = WhenFull::kWait;
  };

  // The bytes that did not reach the console.
  struct Loss {
    int64_t unread = 0;  // bytes discarded by GiveUp, or beyond limit_bytes
    int64_t failed = 0;  // bytes lost in failed writes
    int error = 0;       // errno of the first failed write
  };

  enum class WaitEnd { kDone, kStalled };
  struct WaitLimits {
    // The longest time in which the console may accept nothing.
    Duration without_progress = Duration::zero();
    // Returns the number of signals so far that asked this process to end;
    // called about 20 times a second. After the first signal the console may
    // accept nothing for at most kAfterSignal, after the second not at all. May
    // be empty.
    std::function<int()> end_signals;

    static constexpr Duration kAfterSignal = std::chrono::seconds(5);
    Duration Bound() const;
  };

  // Writes to the open file of `fd` through a descriptor of its own, and does
  // not change flags that other processes share.
  explicit ConsoleWriter(int fd) : ConsoleWriter(fd, Limits()) {}
  ConsoleWriter(int fd, Limits limits);

  // Discards queued text: call Wait first.
  ~ConsoleWriter();

  ConsoleWriter(const ConsoleWriter&) = delete;
  ConsoleWriter& operator=(const ConsoleWriter&) = delete;

  // Queues whole lines, each ending in "\n". They begin on a new line.
  void Write(std::string lines);
  // Like Write, for workers' output, which is discarded and counted after
  // GiveUp.
  void WriteOutput(std::string lines);
  void WriteOutput(const LinePart& part);

  // Whether producers may continue. If false, `on_room` is called once half of
  // the queue is free.
  bool HasRoom();
  // Whether less than half of Limits::limit_bytes is queued.
  bool HasSpareRoom() const;
  // Sets the callback for the moment when half of the queue is free again. It
  // runs in the writer's thread or in GiveUp. Call this before the first Write.
  void SetOnRoom(std::function<void()> on_room);
  // The callback runs once, in the writer's thread, at the first failed write.
  void SetOnError(std::function<void(int error)> on_error);

  // Starts measuring the time in which the console accepts nothing, if this is
  // not measured already: a console found stalled by one wait stays stalled for
  // the next wait, until it accepts something. The waits below call this first;
  // for several writers, call it for all before the first wait.
  void BeginWait(Instant now);
  // Waits until all queued text has been written.
  WaitEnd Wait(const WaitLimits& limits);
  // Waits until HasRoom.
  WaitEnd WaitForRoom(const WaitLimits& limits);
  // Waits at most `timeout`; returns whether all text was written.
  bool Flush(Duration timeout);

  // Discards queued and future output of workers. Muster's own lines (Write)
  // are still queued.
  void GiveUp();

  Loss loss() const;
  // The number of bytes written.
  int64_t written() const;

 private:
  enum class Source { kWorkers, kOurselves };
  struct State;

  void Queue(std::string lines, Source source);
  void StartThread();

  // Shared with the thread, which may outlive the writer: a write to an
  // inherited descriptor that cannot be opened again may block and cannot be
  // interrupted.
  std::shared_ptr<State> state_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_CONSOLE_WRITER_H_
