#ifndef MUSTER_LAUNCHER_CONFIG_CONFIG_COMMAND_H_
#define MUSTER_LAUNCHER_CONFIG_CONFIG_COMMAND_H_

#include <map>
#include <string>
#include <vector>

#include "launcher/options/flag.h"
#include "launcher/voice.h"

namespace muster::launcher {

// `launch config [FILE] [--force]` asks questions on stderr, reads the answers
// from stdin, and writes a configuration file. When stdin ends, the remaining
// answers are the defaults that the questions propose. `launch config show FILE
// [--json]` prints the effect of a file. `arguments` are those after "config".
// Returns the exit code.
int ConfigCommand(const std::vector<std::string>& arguments,
                  const std::vector<Flag>& flags,
                  const std::map<std::string, std::string>& environment,
                  const Voice& voice);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_CONFIG_COMMAND_H_
