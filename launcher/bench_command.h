#ifndef MUSTER_LAUNCHER_BENCH_COMMAND_H_
#define MUSTER_LAUNCHER_BENCH_COMMAND_H_

#include <map>
#include <string>
#include <vector>

#include "launcher/voice.h"

namespace muster::launcher {

// Performs `launch bench ARGUMENTS...`: see BenchHelp. As a worker it becomes
// the measuring program and does not return. The exit code: the job's, or 2
// with a line on stderr for wrong arguments, 127 where the program is missing.
int BenchCommand(const std::vector<std::string>& arguments,
                 const std::map<std::string, std::string>& environment,
                 const Voice& voice);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_BENCH_COMMAND_H_
