#ifndef MUSTER_LAUNCHER_OPTIONS_PROGRAM_CHECK_H_
#define MUSTER_LAUNCHER_OPTIONS_PROGRAM_CHECK_H_

#include "absl/status/status.h"
#include "base/resource_room.h"
#include "launcher/options/machine.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// Whether what `options` name can be run, before anything is started, as a
// shell or Python would say it. NotFound: no such program (exit 127).
// PermissionDenied: not executable (exit 126). InvalidArgument: no such
// script, or no Python (exit 2). Looks at the file system; whether a module is
// there only Python knows.
absl::Status CheckProgram(const RunOptions& options, const MachineFacts& facts);

// What an agent with these options needs beyond what a process has when it
// begins: the threads of gRPC, of the store and of logs, the guardian and the
// workers (a limit counts processes and threads alike), and their descriptors.
// With room for a coordinator in the same process. Pure.
ResourceNeed RoomNeededFor(const RunOptions& options);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_PROGRAM_CHECK_H_
