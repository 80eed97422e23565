#ifndef MUSTER_LAUNCHER_COMPLETION_H_
#define MUSTER_LAUNCHER_COMPLETION_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster::launcher {

// The command whose arguments a completion script completes. torchrun has no
// subcommands.
enum class CompletedCommand { kLaunch, kTorchrun };

// The completion script of `shell` (bash, zsh or fish), generated from the
// table of flags. The script runs no program of Muster. Pure. InvalidArgument:
// another shell.
absl::StatusOr<std::string> CompletionScript(const std::string& shell,
                                             CompletedCommand command);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_COMPLETION_H_
