#ifndef MUSTER_LAUNCHER_BENCH_COMMAND_H_
#define MUSTER_LAUNCHER_BENCH_COMMAND_H_

#include <map>
#include <string>
#include <vector>

#include "launcher/voice.h"

namespace muster::launcher {

// Performs `launch bench ARGUMENTS...`; see BenchHelp. In a worker, this call
// replaces the process by the measuring program and does not return. Returns
// the exit code of the job. For wrong arguments prints a line on stderr and
// returns 2. Returns 127 if the measuring program is missing.
int BenchCommand(const std::vector<std::string>& arguments,
                 const std::map<std::string, std::string>& environment,
                 const Voice& voice);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_BENCH_COMMAND_H_
