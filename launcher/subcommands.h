#ifndef MUSTER_LAUNCHER_SUBCOMMANDS_H_
#define MUSTER_LAUNCHER_SUBCOMMANDS_H_

#include <string>
#include <vector>

#include "launcher/options/flag.h"

namespace muster::launcher {

// The flags that shells complete after a subcommand.
enum class SubcommandFlags {
  kNone,
  kAdmin,   // AdminFlags, of a subcommand that asks a coordinator
  kRun,     // the flags of a run
  kDoctor,  // the flags of `launch doctor` and of a run
};

// A first argument of `launch` that selects another action than running a job.
// Help, docs/CLI.md and completion use this row; main.cc calls the function. A
// program of the same name can be run as ./status, or after a flag or "--".
struct Subcommand {
  const char* name;
  const char* arguments;  // arguments, as shown in usage lines
  const char* summary;    // one sentence
  // First line of the usage section of the help text. One row may hold the line
  // of several subcommands; null: none.
  const char* usage = nullptr;
  const char* purpose = nullptr;  // rest of the `usage` line
  SubcommandFlags flags = SubcommandFlags::kNone;
  // Arguments that shells complete, in the form of Flag::completions.
  const char* completions = "";
};

// All subcommands, in the order of the help text.
const std::vector<Subcommand>& Subcommands();

// The flags of the subcommands that ask a coordinator: status, watch, cancel,
// drain.
std::vector<Flag> AdminFlags();

// Returns the row of `argument`, or null if `argument` is no subcommand. The
// pointer stays valid.
const Subcommand* FindSubcommand(const std::string& argument);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SUBCOMMANDS_H_
