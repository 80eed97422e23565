#ifndef MUSTER_LAUNCHER_LAUNCH_HELP_H_
#define MUSTER_LAUNCHER_LAUNCH_HELP_H_

#include <string>
#include <utility>
#include <vector>

namespace muster::launcher {

// The text of `launch --help`, in 80 columns. Pure.
std::string LaunchHelp();

// The help text of the subcommands status, watch, logs, stacks, cancel and
// drain. Pure.
std::string AdminHelp();

// Example commands, each with a description, for the help text and docs/CLI.md.
std::vector<std::pair<std::string, std::string>> Examples();

// Exit codes, each with its meaning.
std::vector<std::pair<std::string, std::string>> ExitCodes();

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_LAUNCH_HELP_H_
