#ifndef MUSTER_LAUNCHER_OPTIONS_JOB_COMMAND_H_
#define MUSTER_LAUNCHER_OPTIONS_JOB_COMMAND_H_

#include <string>

#include "launcher/options/run_options.h"

namespace muster::launcher {

// JobSpec::command: what was asked for, as words of a shell, without line
// breaks or other control characters. Equal texts mean equal commands: of one
// that is longer than kMaxCommandBytes the beginning, the length and a hash of
// the whole are given. The number of workers is the text of --nproc-per-node
// ("gpu"), so that nodes with different hardware agree. Pure.
std::string JobCommand(const RunOptions& options);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_JOB_COMMAND_H_
