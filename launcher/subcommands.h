#ifndef MUSTER_LAUNCHER_SUBCOMMANDS_H_
#define MUSTER_LAUNCHER_SUBCOMMANDS_H_

#include <string>
#include <vector>

#include "launcher/options/flag.h"

namespace muster::launcher {

// Which part of the launcher performs a subcommand.
enum class SubcommandKind {
  kAdmin,  // asks a coordinator; takes AdminFlags
  kInspect,
  kDoctor,
  kBench,
  kConfig,
  kCompletion,
};

// A first argument that makes `launch` do something else than run a job. A
// program of that name is run as ./status, or after a flag or "--".
struct Subcommand {
  const char* name;
  const char* arguments;  // as usage shows them
  const char* summary;    // one sentence
  SubcommandKind kind;
};

// In the order of the help text.
const std::vector<Subcommand>& Subcommands();

// The flags of those that ask a coordinator: status, watch, cancel, drain.
std::vector<Flag> AdminFlags();

// Null: `argument` is no subcommand. The pointer stays valid.
const Subcommand* FindSubcommand(const std::string& argument);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SUBCOMMANDS_H_
