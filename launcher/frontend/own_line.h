#ifndef MUSTER_LAUNCHER_FRONTEND_OWN_LINE_H_
#define MUSTER_LAUNCHER_FRONTEND_OWN_LINE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "launcher/frontend/frontend.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// The command line of whoever is called, as one of `launch`; reads DeepSpeed's
// host file. What runs a program begins with a flag unless `called` is kLaunch.
absl::StatusOr<OwnLine> ReadOwnLine(const CalledAs& called,
                                    const std::vector<Flag>& flags);

// What `launch` refuses, in the words of whoever is called.
absl::Status InCallersWords(Frontend frontend, const absl::Status& error);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_FRONTEND_OWN_LINE_H_
