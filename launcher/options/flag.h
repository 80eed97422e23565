#ifndef MUSTER_LAUNCHER_OPTIONS_FLAG_H_
#define MUSTER_LAUNCHER_OPTIONS_FLAG_H_

#include <string>

namespace muster::launcher {

enum class FlagKind {
  kValue,   // --name=VALUE or --name VALUE; the last one given holds
  kSwitch,  // --name, --name=0, --name=1
};

// Help texts and docs/CLI.md show flags in these groups, in this order.
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

// The title of a group, as help texts show it.
const char* GroupTitle(FlagGroup group);

// Which program takes the flag.
enum class FlagUser { kLaunchAndAgent, kLaunchOnly };

// Whether PET_<NAME> in the environment is the flag's default.
enum class PetVariable { kRead, kNone };

// One flag: what parsing, help, reference and shell completion know of it.
struct Flag {
  const char* name;         // "nproc-per-node": dashes, without the leading two
  char letter;              // 'r' for -r; 0: none
  FlagKind kind;            //
  const char* placeholder;  // "MIN:MAX"; empty for a switch
  const char* fallback;     // what holds when it is not given; may be empty
  PetVariable pet;          //
  FlagGroup group;          //
  FlagUser user;            //
  // What a shell can complete: words separated by spaces, or "<file>" or
  // "<directory>"; empty: nothing.
  const char* completions;
  const char* help;  // full sentences, without line breaks
};

// "PET_NPROC_PER_NODE" of "nproc-per-node".
std::string PetName(const Flag& flag);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_FLAG_H_
