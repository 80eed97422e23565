#ifndef MUSTER_LAUNCHER_OPTIONS_PROGRAM_CHECK_H_
#define MUSTER_LAUNCHER_OPTIONS_PROGRAM_CHECK_H_

#include "absl/status/status.h"
#include "base/resource_room.h"
#include "launcher/options/machine.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {

// Checks that the program of `options` can be run, with the errors of a shell
// or of Python. NotFound: no such program (exit code 127). PermissionDenied:
// not executable (exit code 126). InvalidArgument: no such script, or no Python
// (exit code 2). Reads the file system; does not check modules (-m), which only
// Python can find.
absl::Status CheckProgram(const RunOptions& options, const MachineFacts& facts);

// The threads and descriptors that an agent with these options needs in
// addition to those of a new process: for gRPC, the store, logs, the guardian,
// the workers (each counts as a thread, because the limit on threads includes
// processes), and a coordinator in the same process. Pure.
ResourceNeed RoomNeededFor(const RunOptions& options);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_PROGRAM_CHECK_H_
