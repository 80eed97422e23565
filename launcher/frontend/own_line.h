#ifndef MUSTER_LAUNCHER_FRONTEND_OWN_LINE_H_
#define MUSTER_LAUNCHER_FRONTEND_OWN_LINE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "launcher/frontend/frontend.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// Translates a command line in the syntax of `called.frontend` (torchrun,
// deepspeed) to the syntax of `launch`; a line for `launch` is returned
// unchanged. Reads DeepSpeed's host file if the frontend is kDeepSpeed.
//
// If a translated line names a program to run, the line begins with a flag.
// Therefore `launch` does not take the program's name for one of its
// subcommands.
absl::StatusOr<OwnLine> ReadOwnLine(const CalledAs& called,
                                    const std::vector<Flag>& flags);

// Rewrites an error of `launch` with the flag names of the called launcher.
absl::Status WithFrontendFlagNames(Frontend frontend,
                                   const absl::Status& error);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_FRONTEND_OWN_LINE_H_
