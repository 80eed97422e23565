#ifndef MUSTER_LAUNCHER_FRONTEND_OWN_LINE_H_
#define MUSTER_LAUNCHER_FRONTEND_OWN_LINE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "launcher/frontend/frontend.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// Translates the command line of the called launcher to one of `launch`. Reads
// DeepSpeed's host file. If `called` is not kLaunch and the line starts a
// program, the result begins with a flag, so that no word is taken for a
// subcommand.
absl::StatusOr<OwnLine> ReadOwnLine(const CalledAs& called,
                                    const std::vector<Flag>& flags);

// Rewrites an error of `launch` with the flag names of the called launcher.
absl::Status WithFrontendFlagNames(Frontend frontend,
                                   const absl::Status& error);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_FRONTEND_OWN_LINE_H_
