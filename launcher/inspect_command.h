#ifndef MUSTER_LAUNCHER_INSPECT_COMMAND_H_
#define MUSTER_LAUNCHER_INSPECT_COMMAND_H_

#include <string>
#include <vector>

#include "launcher/voice.h"

namespace muster::launcher {

// Performs `launch inspect ARGUMENTS...` and prints the analysis on stdout.
// Returns the exit code: 0 if the ranks agree; 1 if a rank is to blame; 2 (and
// prints a line on stderr) if the arguments or the files are wrong.
int InspectCommand(const std::vector<std::string>& arguments,
                   const Voice& voice);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_INSPECT_COMMAND_H_
