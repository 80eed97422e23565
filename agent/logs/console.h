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

// The exit status if the job succeeded but stdout or stderr could not be
// written, for instance to a full disk. Equals EX_IOERR of sysexits.h. Not used
// if the reader of a pipe has closed its end.
inline constexpr int kOutputLostExitCode = 74;

// The descriptors to which the console's stdout and stderr are written.
struct ConsoleFds {
  int out = 1;
  int err = 2;
};

// This process's stdout and stderr, for workers' output and Muster's own lines.
// If both are the same terminal, pipe or file, one writer serves both, so that
// lines stay whole. A write error of one stream is reported on the other stream
// at once.
//
// Thread-safe.
class Console {
 public:
  // `name`, such as "launch", is the prefix of Muster's own lines.
  explicit Console(ConsoleFds fds = {}, ConsoleWriter::Limits limits = {},
                   std::string name = "launch");
  // Waits at most a second until the queued lines are written.
  ~Console();

  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  ConsoleFds fds() const { return fds_; }
  const std::shared_ptr<ConsoleWriter>& out() const { return out_; }
  const std::shared_ptr<ConsoleWriter>& err() const { return err_; }

  // Sets the callback that is called when a full stream of the console has room
  // again.
  void SetOnRoom(const std::function<void()>& on_room);
  bool HasRoom();
  // Whether every stream has queued less than half of the bytes that it may
  // queue (Limits::limit_bytes).
  bool HasSpareRoom() const;
  // The number of bytes written to stdout and stderr together.
  int64_t written() const;
  // The number of bytes that did not reach stdout or stderr, for any of the
  // reasons in ConsoleWriter::Loss.
  int64_t missing() const;
  void GiveUp();

  // Prints one of Muster's own lines on stderr, or on stdout if stderr fails.
  void Tell(const std::string& line);

  // WaitForRoom waits until each stream has room. Wait waits until everything
  // is written. Both return false if `limits` ended the wait. The limits apply
  // to both streams together.
  bool WaitForRoom(const ConsoleWriter::WaitLimits& limits);
  bool Wait(const ConsoleWriter::WaitLimits& limits);
  // MakeRoom is like WaitForRoom, and Finish like Wait, for the end of a job:
  // if a stream accepts nothing within `limits`, its remaining output is
  // discarded.
  void MakeRoom(const ConsoleWriter::WaitLimits& limits);
  void Finish(const ConsoleWriter::WaitLimits& limits);
  // Waits at most `timeout`. Returns whether everything has been written.
  bool Flush(Duration timeout);

  // One sentence for each stream whose output is incomplete on the console,
  // such as "8 bytes could not be written to stdout: …". `where` names the
  // folder that has all of the output; empty: no folder.
  std::vector<std::string> Losses(const std::string& where) const;
  // Whether any write has failed.
  bool Failed() const;
  // Whether output is missing on the console because a write failed, or because
  // the console accepted nothing for too long. Output that Muster dropped
  // because the user allowed this (WhenFull::kDrop) does not count.
  bool IsIncomplete() const;

 private:
  std::vector<ConsoleWriter*> Streams() const;
  // Returns all streams of the console, for a caller that waits for the streams
  // one after another. Also calls BeginWait for each stream, so that the times
  // in which the streams accept nothing are all measured from now on. The waits
  // thus share one time limit.
  std::vector<ConsoleWriter*> StreamsToWaitFor() const;

  const ConsoleFds fds_;
  const std::shared_ptr<ConsoleWriter> out_;
  const std::shared_ptr<ConsoleWriter> err_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_CONSOLE_H_
