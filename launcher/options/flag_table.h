#ifndef MUSTER_LAUNCHER_OPTIONS_FLAG_TABLE_H_
#define MUSTER_LAUNCHER_OPTIONS_FLAG_TABLE_H_

#include <string>
#include <vector>

#include "launcher/options/flag.h"

namespace muster::launcher {

// Every flag of `launch` (kLaunchOnly) or of `agent` (kLaunchAndAgent, i.e.
// without those that only `launch` takes), in the order of the help text. The
// one source of parsing, help, docs/CLI.md and shell completion.
std::vector<Flag> FlagsOf(FlagUser user);

// The row of `name` in `flags`; null if there is none.
const Flag* FindFlag(const std::vector<Flag>& flags, const std::string& name);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_FLAG_TABLE_H_
