#ifndef MUSTER_LAUNCHER_RUN_REPORT_REPORT_COMMAND_H_
#define MUSTER_LAUNCHER_RUN_REPORT_REPORT_COMMAND_H_

#include <map>
#include <string>
#include <vector>

#include "launcher/options/flag.h"
#include "launcher/voice.h"

namespace muster::launcher {

// The flags of `launch report`.
std::vector<Flag> ReportFlags();

// `launch report`: writes an HTML file about a run, from its files alone, and
// prints the path. `args`: the arguments after "report". Returns the exit code.
int ReportCommand(const std::vector<std::string>& args,
                  const std::map<std::string, std::string>& environment,
                  const Voice& voice);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_RUN_REPORT_REPORT_COMMAND_H_
