#ifndef MUSTER_LAUNCHER_SSH_SSH_COMMAND_H_
#define MUSTER_LAUNCHER_SSH_SSH_COMMAND_H_

#include <string>
#include <string_view>
#include <vector>

#include "launcher/ssh/messages.h"

namespace muster::launcher {

// The argument with which ssh starts `launch` on another host.
inline constexpr char kSshNodeArgument[] = "--muster-ssh-node";

// Returns the command line of ssh that starts `launch` on `destination`. The
// user's options come before Muster's, because ssh uses the first value of an
// option. The command line contains the host and the path of the program, but
// nothing about the job.
std::vector<std::string> SshCommand(const std::string& ssh_program,
                                    const SshSettings& settings,
                                    const std::string& destination);

// How an ssh connection failed before the remote `launch` gave a valid answer.
struct SshEnd {
  enum class Cause { kExited, kTimedOut, kForeignAnswer };
  Cause cause = Cause::kExited;
  int exit_code = 0;  // exit code of the program ssh, if `cause` is kExited
  // if `cause` is kForeignAnswer: what is wrong with the remote program's
  // answer or, if ssh could not be started, why
  std::string answer;
  std::string said;     // what ssh printed on stderr
  std::string printed;  // the remote command's output on stdout
};

// The reason why a host was not reached, in one line: ssh's own message if
// there is one.
std::string WhyNotReached(const SshEnd& end, const SshSettings& settings);

// Returns the last lines of a program's output, joined to one line without
// control characters; empty if there is no output.
std::string LastWords(std::string_view said);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_SSH_COMMAND_H_
