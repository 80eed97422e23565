#ifndef MUSTER_LAUNCHER_OPTIONS_FLAG_H_
#define MUSTER_LAUNCHER_OPTIONS_FLAG_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace muster::launcher {

struct RunOptions;

// The groups in which help texts and docs/CLI.md show flags, in this order.
enum class FlagGroup {
  kCluster,
  kRemote,
  kWorkers,
  kRestarts,
  kHealth,
  kOutput,
  kStopping,
  kPreemption,
  kAccepted,
  kGeneral,
};
inline constexpr int kFlagGroups = 10;

// The title of a group in help texts.
const char* GroupTitle(FlagGroup group);

// The programs that accept a flag.
enum class FlagUser { kLaunchAndAgent, kLaunchOnly };

// Whether the environment variable PET_<NAME> gives a default for the flag.
enum class PetVariable { kRead, kNone };

// Whether `launch --hostfile` passes the user's flag on to the agents that it
// starts on the hosts. (`launch --slurm` passes on every flag except --slurm.)
enum class OnHosts {
  kSent,  // `launch --hostfile` gives the flag with its value to every agent
  // The agents on the hosts do not get the flag as the user gave it: only this
  // process uses the flag, or this process computes another value for each
  // agent.
  kNotSent,
  // `launch --hostfile` refuses the flag, because one value cannot be right for
  // several nodes.
  kOfOneNode,
};

// Everything about one flag. A new flag is one row of a table (flag_table.h)
// and one field of RunOptions.
struct Flag {
  const char* name;  // without the leading dashes: "nproc-per-node"
  char letter = 0;   // short form, 'r' for -r; 0: none
  // The form of the value in help texts, such as "MIN:MAX". Empty: the flag is
  // a switch (--name, --name=0, --name=1). If a flag is given several times,
  // the last value counts.
  const char* value = "";
  // The default as text for help texts. run_options_test checks that it equals
  // the default of the flag's field in RunOptions. Empty: no default.
  const char* default_text = "";
  FlagGroup group = FlagGroup::kGeneral;
  const char* help = "";  // help text: full sentences, without line breaks
  // Text that is appended to `help`; null: none.
  std::string (*more_help)() = nullptr;
  // The words that a shell can complete, separated by spaces, or "<file>" or
  // "<directory>". Empty: none.
  const char* completions = "";
  FlagUser user = FlagUser::kLaunchAndAgent;
  PetVariable pet = PetVariable::kRead;
  // Another environment variable that gives the default if PET_<NAME> is not
  // set; null: none. If `variable_text` is not null, `variable` counts only if
  // it has this text.
  const char* variable = nullptr;
  const char* variable_text = nullptr;
  OnHosts on_hosts = OnHosts::kSent;
  // Name of another flag that this flag needs. Without the other flag, this
  // flag has no effect and is refused. Null: none.
  const char* needs = nullptr;
  // Function that reads the value, checks its bounds and sets the flag's field
  // in `options`. Called if the flag is given. InvalidArgument: what is wrong
  // with the value and what to write, without the flag's name. Null:
  // ParseRunOptions or a subcommand reads the flag itself.
  absl::Status (*read)(const std::string& text, RunOptions& options) = nullptr;

  bool IsSwitch() const { return value[0] == '\0'; }
};

// The environment variable of a flag: "PET_NPROC_PER_NODE" for
// "nproc-per-node".
std::string PetName(const Flag& flag);

// The whole help text of a flag: `help` and `more_help`.
std::string HelpOf(const Flag& flag);

// Returns the row of `name` in `flags`, or null.
const Flag* FindFlag(const std::vector<Flag>& flags, const std::string& name);

// Formats the flags by group in lines of at most 80 columns, for a help text.
// Ends in a newline.
std::string FlagHelp(const std::vector<Flag>& flags);

// The head line of a flag in help texts: "--redirects STREAMS, -r STREAMS".
std::string FlagUsage(const Flag& flag);

// Wraps `text` at `columns` columns; each line begins with `indent` blanks.
std::string Filled(const std::string& text, int indent, int columns);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_FLAG_H_
