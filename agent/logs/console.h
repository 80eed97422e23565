#ifndef MUSTER_AGENT_LOGS_CONSOLE_H_
#define MUSTER_AGENT_LOGS_CONSOLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/logs/console_writer.h"
#include "base/time.h"

namespace muster::agent {

// The exit status of a job that succeeded, where stdout or stderr could not be
// written (a full disk, not a reader that left): sysexits' EX_IOERR.
inline constexpr int kOutputLostExitCode = 74;

// The descriptors of the console.
struct ConsoleFds {
  int out = 1;
  int err = 2;
};

// This process's stdout and stderr, for workers' output and for lines of our
// own. Where both are one terminal, pipe or file, one writer keeps the lines
// whole. A write error of one stream is told on the other at once.
//
// Thread-safe.
class Console {
 public:
  // `name` begins the lines of our own, such as "launch".
  explicit Console(ConsoleFds fds = {}, ConsoleWriter::Limits limits = {},
                   std::string name = "launch");
  // Waits at most a second for lines that are still queued.
  ~Console();

  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  ConsoleFds fds() const { return fds_; }
  const std::shared_ptr<ConsoleWriter>& out() const { return out_; }
  const std::shared_ptr<ConsoleWriter>& err() const { return err_; }

  // See ConsoleWriter.
  void SetOnRoom(const std::function<void()>& on_room);
  bool HasRoom();
  // Whether less than half of the limit is queued.
  bool HasSpareRoom() const;
  // Bytes that have been written.
  int64_t written() const;
  void GiveUp();

  // A line of our own on stderr, or on stdout where stderr fails.
  void Tell(const std::string& line);

  // Waits until each stream has room, or has been written. Whether that is so.
  // The streams are waited for together: `patience` runs for both at once.
  bool WaitForRoom(const ConsoleWriter::Patience& patience);
  bool Wait(const ConsoleWriter::Patience& patience);
  // The same for the end: a stream that takes nothing for that long is given
  // up.
  void MakeRoom(const ConsoleWriter::Patience& patience);
  void Finish(const ConsoleWriter::Patience& patience);
  // Waits at most `timeout`; whether everything has been written.
  bool Flush(Duration timeout);

  // One sentence for each stream that is missing output, such as "stdout: …".
  // `where`: the folder that holds all of the output; empty: none does.
  std::vector<std::string> Losses(const std::string& where) const;
  // Whether a write failed, of any text.
  bool Failed() const;
  // Whether output was given up or lost, for any reason.
  bool IsIncomplete() const;

 private:
  std::vector<ConsoleWriter*> Streams() const;
  // Streams, whose stalled time counts from here on.
  std::vector<ConsoleWriter*> StreamsToWaitFor() const;

  const ConsoleFds fds_;
  const std::shared_ptr<ConsoleWriter> out_;
  const std::shared_ptr<ConsoleWriter> err_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_CONSOLE_H_
