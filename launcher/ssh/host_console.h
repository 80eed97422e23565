#ifndef MUSTER_LAUNCHER_SSH_HOST_CONSOLE_H_
#define MUSTER_LAUNCHER_SSH_HOST_CONSOLE_H_

#include <memory>
#include <string>
#include <string_view>

#include "agent/logs/console_writer.h"
#include "launcher/ssh/messages.h"

namespace muster {

// One line of a host's agent as the front shows it, without its end: workers'
// lines have their prefix "[node:rank] " already, `launch`'s own are told by
// the host's name, and anything else gets it as a prefix. Nothing in it moves a
// terminal's cursor. Pure.
std::string ShownLine(std::string_view line, const std::string& host);

// The front's stdout and stderr: whole lines, each to where it came from. A
// console that does not take them never makes the caller wait; see
// ConsoleWriter.
class HostConsole {
 public:
  HostConsole();
  ~HostConsole();  // waits a second at most for what is not yet written

  void Show(const OutputCame& output, const std::string& host);
  // A line or lines on stderr, as they are.
  void Tell(std::string lines);

 private:
  ConsoleWriter errors_;
  std::unique_ptr<ConsoleWriter> own_output_;  // null: the same console
};

}  // namespace muster

#endif  // MUSTER_LAUNCHER_SSH_HOST_CONSOLE_H_
