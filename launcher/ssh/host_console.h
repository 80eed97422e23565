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

// Returns a line of a host's agent as shown by the starting `launch`, without
// its newline. Workers' lines already begin with "[node:rank] ". After the
// prefix of an agent's own messages, `prefix` ("launch: "), the host's name is
// inserted. Every other line gets the prefix "[HOST] ". Control characters that
// move a terminal's cursor are removed. Pure.
std::string ShownLine(std::string_view line, const std::string& host,
                      const std::string& prefix);

// The stdout and stderr of the starting `launch`: prints the lines of all
// hosts, each to the stream that it came from. Only Finish blocks. Not
// thread-safe.
class HostConsole {
 public:
  // `prefix`: as in ShownLine.
  HostConsole(const agent::ConsolePolicy& policy, std::string prefix);
  ~HostConsole();

  // Whether more output of the hosts should be read. If the console has
  // accepted nothing for the time that the ConsolePolicy gives it, the buffer
  // grows up to a limit, since the unread output may contain the end of the
  // job.
  bool HasRoom(Instant now);
  // The next time at which HasRoom must be called although room_fd() is not
  // readable.
  std::optional<Instant> NextDeadline() const;
  // Readable when HasRoom may have become true again.
  int room_fd() const;
  // Call once a signal ends the job: from then on, a console that accepts
  // nothing is given up sooner.
  void ExpectEnd();

  void Show(const OutputCame& output, const std::string& host);
  // Prints one or more lines on stderr unchanged.
  void Tell(std::string lines);

  // Waits until the console has accepted all output, as long as the policy and
  // `end_signals` allow (see ConsoleWriter::WaitLimits; the signal of ExpectEnd
  // counts as one), then reports lost output. Returns whether all output could
  // be written; output to a closed reader counts as written.
  bool Finish(const std::function<int()>& end_signals);

 private:
  class RoomFd;

  const std::string prefix_;
  const std::shared_ptr<RoomFd> room_;
  agent::Console console_;
  Duration timeout_;
  bool ends_ = false;
  // Bytes that the console had accepted at the last call of HasRoom.
  int64_t taken_ = 0;
  // Time since which the buffer has been full and taken_ unchanged; nullopt
  // otherwise.
  std::optional<Instant> full_since_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_HOST_CONSOLE_H_
