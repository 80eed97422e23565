#ifndef MUSTER_LAUNCHER_OPTIONS_PROGRAM_CHECK_H_
#define MUSTER_LAUNCHER_OPTIONS_PROGRAM_CHECK_H_

#include "absl/status/status.h"
#include "launcher/options/machine_facts.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// Whether what `options` name can be run, before anything is started, as a
// shell or Python would say it. NotFound: no such program (exit 127).
// PermissionDenied: not executable (exit 126). InvalidArgument: no such
// script, or no Python (exit 2). Looks at the file system; whether a module is
// there only Python knows.
absl::Status CheckProgram(const RunOptions& options, const MachineFacts& facts);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_PROGRAM_CHECK_H_
