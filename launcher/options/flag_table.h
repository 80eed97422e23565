#ifndef MUSTER_LAUNCHER_OPTIONS_FLAG_TABLE_H_
#define MUSTER_LAUNCHER_OPTIONS_FLAG_TABLE_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// Returns flags in the order of the help text. kLaunchAndAgent: all flags of
// `agent`; `launch` accepts them as well. kLaunchOnly: all flags of `launch`.
// Parsing, help, docs/CLI.md and shell completion use this table.
std::vector<Flag> FlagsOf(FlagUser user);

// The parts of the table of flags. Each part is in its own file (*_flags.cc),
// together with the functions that read the values of its flags.
std::span<const Flag> ClusterFlags();  // flags of groups kCluster and kRemote
std::span<const Flag> WorkerFlags();   // groups kWorkers, kRestarts, kHealth
// The flags of all groups that ClusterFlags and WorkerFlags do not return.
std::span<const Flag> OutputFlags();

// The flags of mutual TLS, for subcommands, which read no PET_ variables.
// ReadTlsFiles (command_line.h) reads their values.
std::vector<Flag> TlsFlags();

// One key of --rdzv-conf.
struct RdzvConfKey {
  const char* key;
  // default value of this --rdzv-conf key, as help texts show it; "": none
  const char* default_text = "";
  // Text for --help, a noun phrase. Empty: only PyTorch's own rendezvous uses
  // the key; its value is checked and has no effect.
  const char* help = "";
  absl::Status (*read)(const std::string& text, RunOptions& options);
};

// The keys of --rdzv-conf, in the order in which their values are read. If two
// keys set the same field of RunOptions, the later key takes precedence.
std::span<const RdzvConfKey> RdzvConfKeys();

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_FLAG_TABLE_H_
