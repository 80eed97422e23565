#ifndef MUSTER_LAUNCHER_SSH_HOST_CONSOLE_H_
#define MUSTER_LAUNCHER_SSH_HOST_CONSOLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/logs/console.h"
#include "agent/logs/log_plan.h"
#include "base/time.h"
#include "launcher/ssh/messages.h"

namespace muster::launcher {

// Formats a line of a host's agent for the console of the starting `launch`,
// without the newline. Lines of workers already begin with "[node:rank] " and
// are unchanged. In an agent's own messages, the host's name is inserted after
// the prefix `prefix` ("launch: "). Every other line gets the prefix "[HOST] ".
// Control characters that move a terminal's cursor are removed. Pure.
std::string ShownLine(std::string_view line, const std::string& host,
                      const std::string& prefix);

// Prints the output of all hosts on the terminal of the `launch --hostfile`
// that started their agents: stdout's lines on stdout, stderr's on stderr. Only
// Finish blocks. Not thread-safe.
class HostConsole {
 public:
  // `prefix`: the beginning of the agents' own messages, "launch: ".
  HostConsole(const agent::ConsolePolicy& policy, std::string prefix);
  ~HostConsole();

  // Whether more output of the hosts should be read now: yes, while little text
  // is queued for the console (ConsoleWriter::HasRoom). If more is queued, and
  // the console has accepted nothing for ConsolePolicy::timeout, output is read
  // nevertheless, because it may report the end of the job. A larger limit
  // applies then (ConsoleWriter::HasSpareRoom).
  bool HasRoom(Instant now);
  // The next time at which HasRoom must be called even if room_fd() is not
  // readable.
  std::optional<Instant> NextDeadline() const;
  // A descriptor that becomes readable when HasRoom may have become true again.
  int room_fd() const;
  // Must be called when a signal ends the job. After this call, output is
  // discarded once the console has accepted nothing for a short time
  // (ConsoleWriter::WaitLimits::kAfterSignal).
  void ExpectEnd();

  void Show(const OutputCame& output, const std::string& host);
  // Prints one or more lines on stderr without adding a prefix.
  void Tell(std::string lines);

  // Waits until the console has accepted all output, then reports lost output.
  // Gives up if the console accepts nothing for ConsolePolicy::timeout. After a
  // signal that asks this process to end, or after ExpectEnd, the timeout is at
  // most 5 s (ConsoleWriter::WaitLimits::kAfterSignal). A further signal ends
  // the wait at once. `end_signals`: returns the number of such signals so far.
  // Returns whether all output could be written. Output to a closed reader
  // counts as written.
  bool Finish(const std::function<int()>& end_signals);

 private:
  class RoomFd;

  const std::string prefix_;
  const std::shared_ptr<RoomFd> room_;
  agent::Console console_;
  Duration timeout_;
  bool ends_ = false;
  // Number of bytes that the console had accepted at the last call of HasRoom.
  int64_t taken_ = 0;
  // Time since which the console's buffer has been full and the console has
  // accepted nothing; nullopt: the buffer is not full.
  std::optional<Instant> full_since_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_HOST_CONSOLE_H_
