#ifndef MUSTER_LAUNCHER_SUBCOMMANDS_H_
#define MUSTER_LAUNCHER_SUBCOMMANDS_H_

#include <string>
#include <vector>

#include "launcher/options/flag.h"

namespace muster::launcher {

// The flags that shells complete after a subcommand.
enum class SubcommandFlags {
  kNone,
  kAdmin,   // AdminFlags; the subcommand asks a coordinator
  kRun,     // the flags of a run
  kDoctor,  // the flags of `launch doctor` and of a run
};

// A first argument that makes `launch` do something else than run a job: help,
// docs/CLI.md and completion come from its row; main.cc calls its function. A
// program of that name is run as ./status, or after a flag or "--".
struct Subcommand {
  const char* name;
  const char* arguments;  // in usage lines
  const char* summary;    // one sentence
  // The line at the head of the help text, which one row may have for several
  // subcommands; null: none.
  const char* usage = nullptr;
  const char* purpose = nullptr;  // the rest of that line
  SubcommandFlags flags = SubcommandFlags::kNone;
  // Arguments that shells complete: as Flag::completions.
  const char* completions = "";
};

// In the order of the help text.
const std::vector<Subcommand>& Subcommands();

// The flags of those that ask a coordinator: status, watch, cancel, drain.
std::vector<Flag> AdminFlags();

// Null: `argument` is no subcommand. The pointer stays valid.
const Subcommand* FindSubcommand(const std::string& argument);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SUBCOMMANDS_H_
