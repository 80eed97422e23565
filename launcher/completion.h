#ifndef MUSTER_LAUNCHER_COMPLETION_H_
#define MUSTER_LAUNCHER_COMPLETION_H_

#include <string>

#include "absl/status/statusor.h"

namespace muster::launcher {

// Whose command lines a script completes. torchrun's have no sub-commands.
enum class CompletedCommand { kLaunch, kTorchrun };

// The completion script of `shell` (bash, zsh or fish), made of the flags'
// table; it runs nothing of ours. Pure. InvalidArgument: another shell.
absl::StatusOr<std::string> CompletionScript(const std::string& shell,
                                             CompletedCommand command);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_COMPLETION_H_
