#ifndef MUSTER_LAUNCHER_CONFIG_CONFIG_COMMAND_H_
#define MUSTER_LAUNCHER_CONFIG_CONFIG_COMMAND_H_

#include <map>
#include <string>
#include <vector>

#include "launcher/options/flag.h"
#include "launcher/voice.h"

namespace muster::launcher {

// `launch config [FILE] [--force]` writes a configuration file by questions,
// asked on stderr and answered on stdin, whose end answers the rest with what
// is proposed; `launch config show FILE [--json]` says what a file would do.
// `arguments` without "config". The exit code.
int ConfigCommand(const std::vector<std::string>& arguments,
                  const std::vector<Flag>& flags,
                  const std::map<std::string, std::string>& environment,
                  const Voice& voice);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_CONFIG_COMMAND_H_
