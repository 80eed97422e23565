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

// One line of a host's agent as the front shows it, without its end: workers'
// lines have their prefix "[node:rank] " already, the agent's own, which begin
// with `prefix` ("launch: "), are told by the host's name, and anything else
// gets it as a prefix. Nothing in it moves a terminal's cursor. Pure.
std::string ShownLine(std::string_view line, const std::string& host,
                      const std::string& prefix);

// The front's stdout and stderr: whole lines, each to where it came from. No
// call waits for them but Finish. Not thread-safe.
class HostConsole {
 public:
  // `prefix`: as ShownLine's.
  HostConsole(const agent::ConsolePolicy& policy, std::string prefix);
  ~HostConsole();

  // Whether the hosts' output is to be read on. A console that has taken
  // nothing for the policy's time gets more room, up to a bound on memory: the
  // job's end may be in what has not been read.
  bool HasRoom(Instant now);
  // When HasRoom may change by time alone.
  std::optional<Instant> NextDeadline() const;
  // Readable after HasRoom was false, once it may be true.
  int room_fd() const;
  // A signal ends the job: less patience from now on, and a console that takes
  // nothing is given up.
  void ExpectEnd();

  void Show(const OutputCame& output, const std::string& host);
  // A line or lines on stderr, as they are.
  void Tell(std::string lines);

  // Waits for the console as the policy and `end_signals` say (see
  // ConsoleWriter::Patience; the signal of ExpectEnd counts before them), and
  // tells what it has not got. Whether all of it could be written, if anybody
  // reads.
  bool Finish(const std::function<int()>& end_signals);

 private:
  class RoomFd;

  const std::string prefix_;
  const std::shared_ptr<RoomFd> room_;
  agent::Console console_;
  Duration patience_;
  bool ends_ = false;
  int64_t taken_ = 0;                  // bytes, when it was looked at last
  std::optional<Instant> full_since_;  // with that many bytes taken
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_HOST_CONSOLE_H_
