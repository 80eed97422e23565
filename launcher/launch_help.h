#ifndef MUSTER_LAUNCHER_LAUNCH_HELP_H_
#define MUSTER_LAUNCHER_LAUNCH_HELP_H_

#include <string>
#include <utility>
#include <vector>

namespace muster::launcher {

// What `launch --help` prints, in 80 columns. Pure.
std::string LaunchHelp();

// What `launch status --help` and its kind print. Pure.
std::string AdminHelp();

// Commands with what they do, for the help text and docs/CLI.md.
std::vector<std::pair<std::string, std::string>> Examples();

// Exit codes with their meaning.
std::vector<std::pair<std::string, std::string>> ExitCodes();

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_LAUNCH_HELP_H_
