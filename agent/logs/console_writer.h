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

// Returns a new descriptor for the open file of `fd`; -1 if `fd` is closed.
//
// Pipes and terminals are opened again, non-blocking. O_NONBLOCK belongs to the
// open file description. If it were set on `fd` itself, it would also affect
// the shell and every other program that shares the description. Files that
// cannot be opened again (sockets, a terminal of another user) are duplicated
// and may block.
int OpenConsoleCopy(int fd);

// Whether both descriptors refer to the same file, pipe or terminal.
bool IsSameConsole(int fd, int other);

// Writes to a terminal, pipe or file that may be slow, or whose reader may have
// exited. Write and WriteOutput only queue the text; they do not wait for the
// console.
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
    // HasRoom is true while fewer bytes than this are queued
    size_t room_bytes = 4 << 20;
    // text is dropped while more bytes than this are queued
    size_t limit_bytes = 64 << 20;
    // With kDrop, producers never wait: HasRoom is always true, and text beyond
    // `room_bytes` is dropped.
    WhenFull when_full = WhenFull::kWait;
  };

  // The number of bytes that did not reach the console.
  struct Loss {
    // bytes that were not written because the console's reader is too slow:
    // those that were discarded after GiveUp, and those dropped beyond
    // limit_bytes
    int64_t unread = 0;
    // bytes that were dropped because the user allowed this (WhenFull::kDrop)
    int64_t dropped = 0;
    int64_t failed = 0;  // bytes lost in failed writes
    int error = 0;       // errno of the first failed write
  };

  enum class WaitEnd { kDone, kStalled };
  struct WaitLimits {
    // A wait gives up if the console accepts nothing for this time.
    Duration without_progress = Duration::zero();
    // Returns the number of signals received so far that ask this process to
    // end; called about 20 times a second. After the first signal, a wait ends
    // if the console accepts nothing for the short time kAfterSignal. After the
    // second signal, a wait ends at once. May be empty.
    std::function<int()> end_signals;

    static constexpr Duration kAfterSignal = std::chrono::seconds(5);
    Duration Bound() const;
  };

  // `fd` is the console. The writer opens a descriptor of its own for the same
  // file, so that it changes no flags that other processes share.
  explicit ConsoleWriter(int fd) : ConsoleWriter(fd, Limits()) {}
  ConsoleWriter(int fd, Limits limits);

  // Discards the text that is still queued; to have it written, call Wait
  // before. Waits at most a second for the writer's thread.
  ~ConsoleWriter();

  ConsoleWriter(const ConsoleWriter&) = delete;
  ConsoleWriter& operator=(const ConsoleWriter&) = delete;

  // Queues whole lines, each ending in "\n". On the console they start at the
  // beginning of a line.
  void Write(std::string lines);
  // Like Write, for workers' output; after GiveUp this output is discarded and
  // counted.
  void WriteOutput(std::string lines);
  void WriteOutput(const LinePart& part);

  // Whether producers may continue to write. If the result is false, `on_room`
  // is called once half of the queue is free.
  bool HasRoom();
  // Whether the queue has less than half of Limits::limit_bytes.
  bool HasSpareRoom() const;
  // Sets the callback for the moment when half of the queue is free again. It
  // runs in the writer's thread or in GiveUp. Call this before the first Write.
  void SetOnRoom(std::function<void()> on_room);
  // Sets the callback for the first failed write. It runs once, in the writer's
  // thread.
  void SetOnError(std::function<void(int error)> on_error);

  // Starts to measure how long the console accepts nothing, unless such a
  // measurement is running already. The measurement continues from one wait to
  // the next until the console accepts something. Wait and WaitForRoom call
  // BeginWait first. Before a wait for several writers, call BeginWait for all
  // of them.
  void BeginWait(Instant now);
  // Waits until all queued text has been written.
  WaitEnd Wait(const WaitLimits& limits);
  // Waits until HasRoom is true.
  WaitEnd WaitForRoom(const WaitLimits& limits);
  // Waits at most `timeout`. Returns whether all text was written.
  bool Flush(Duration timeout);

  // Discards queued and future output of workers. Muster's own lines (Write)
  // are still queued.
  void GiveUp();

  Loss loss() const;
  // The number of bytes written to the console.
  int64_t written() const;

 private:
  enum class Source { kWorkers, kOurselves };
  struct State;

  void Queue(std::string lines, Source source);
  void StartThread();

  // The state that this object shares with the writer's thread. The thread may
  // outlive this object: it may be blocked in a write that cannot be
  // interrupted, to an inherited descriptor that cannot be opened again.
  std::shared_ptr<State> state_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_CONSOLE_WRITER_H_
