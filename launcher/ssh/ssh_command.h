#ifndef MUSTER_LAUNCHER_SSH_SSH_COMMAND_H_
#define MUSTER_LAUNCHER_SSH_SSH_COMMAND_H_

#include <string>
#include <string_view>
#include <vector>

#include "launcher/ssh/messages.h"

namespace muster::launcher {

// The argument by which `launch` knows that it is to be a host's end of an ssh
// connection.
inline constexpr char kSshNodeArgument[] = "--muster-ssh-node";

// Arguments of `ssh_program` that start `launch` on `destination`: the person's
// own first, since of an option that is given twice ssh takes the first. They
// show where and what is started, and nothing of the job.
std::vector<std::string> SshCommand(const std::string& ssh_program,
                                    const SshSettings& settings,
                                    const std::string& destination);

// How a connection ended before `launch` answered.
struct SshEnd {
  enum class Cause { kExited, kTimedOut, kForeignAnswer };
  Cause cause = Cause::kExited;
  int exit_code = 0;    // kExited
  std::string answer;   // kForeignAnswer: what is wrong with it
  std::string said;     // ssh's stderr
  std::string printed;  // what came on stdout
};

// Why, in one line: in ssh's own words where it has any.
std::string WhyNotReached(const SshEnd& end, const SshSettings& settings);

// The last lines of what a program said, as one line without control
// characters; empty if it said nothing.
std::string LastWords(std::string_view said);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_SSH_COMMAND_H_
