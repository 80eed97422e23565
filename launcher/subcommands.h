#ifndef MUSTER_LAUNCHER_SUBCOMMANDS_H_
#define MUSTER_LAUNCHER_SUBCOMMANDS_H_

#include <string>
#include <vector>

#include "launcher/options/flag.h"

namespace muster {

// A first argument that makes `launch` do something else than run a job. A
// program of that name is run as ./status, or after a flag or "--".
struct Subcommand {
  const char* name;
  const char* arguments;          // as usage shows them
  const char* summary;            // one sentence
  bool asks_coordinator = false;  // it takes AdminFlags
};

// In the order of the help text.
std::vector<Subcommand> Subcommands();

// The flags of those that ask a coordinator: status, watch, cancel, drain.
std::vector<Flag> AdminFlags();

bool IsSubcommand(const std::string& argument);

}  // namespace muster

#endif  // MUSTER_LAUNCHER_SUBCOMMANDS_H_
