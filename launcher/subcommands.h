#ifndef MUSTER_LAUNCHER_SUBCOMMANDS_H_
#define MUSTER_LAUNCHER_SUBCOMMANDS_H_

#include <string>
#include <vector>

#include "launcher/options/flag.h"

namespace muster::launcher {

enum class SubcommandId {
  kStatus,
  kWatch,
  kTop,
  kLogs,
  kStacks,
  kCancel,
  kDrain,
  kNodes,
  kInspect,
  kReport,
  kDoctor,
  kBench,
  kToken,
  kConfig,
  kCompletion,
};

// The flags of a subcommand, for shell completion.
enum class SubcommandFlags {
  kNone,
  kAdmin,  // the flags of AdminFlags; the subcommand talks to a coordinator
  kRun,    // the flags of `launch PROGRAM`, which runs a job
  // the flags of `launch doctor` and those of `launch PROGRAM`
  kDoctor,
};

// A subcommand: a first argument of `launch` that selects another action than
// running a job. The help texts, docs/CLI.md and shell completion are generated
// from the list of subcommands; main.cc and admin_command.cc call the function
// of each id. A program of the same name can be run as ./status, or after a
// flag or "--".
struct Subcommand {
  SubcommandId id;
  const char* name;
  // the subcommand's arguments, as usage lines show them
  const char* arguments;
  const char* summary;  // what the subcommand does, in one sentence
  // Text after "launch" in the line about this subcommand in the help text of
  // `launch`. Null: the line of another subcommand describes this one too.
  const char* usage = nullptr;
  // The purpose of the subcommand: the text after `usage` in the help text of
  // `launch`. Null if `usage` is null.
  const char* purpose = nullptr;
  SubcommandFlags flags = SubcommandFlags::kNone;
  // The words that a shell can complete as the subcommand's argument, separated
  // by spaces, or "<file>" or "<directory>". Empty: none.
  const char* completions = "";
};

// All subcommands, in the order of the help text.
const std::vector<Subcommand>& Subcommands();

// A flag of the subcommands that ask a coordinator (SubcommandFlags::kAdmin).
struct AdminFlag {
  Flag flag;
  // the only subcommands that accept the flag; empty: all of them accept it
  std::vector<SubcommandId> takers;
};
// The rows of all these flags. The help text of each names its takers.
const std::vector<AdminFlag>& AdminFlagTable();
std::vector<Flag> AdminFlags();  // the flags of the rows

// Returns the names of the subcommands, separated by `separator`, and by `last`
// before the last one.
std::string NamesOf(const std::vector<SubcommandId>& ids, const char* separator,
                    const char* last);

// Returns the row of the subcommand `argument`; null if `argument` is not a
// subcommand. The pointer stays valid.
const Subcommand* FindSubcommand(const std::string& argument);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SUBCOMMANDS_H_
