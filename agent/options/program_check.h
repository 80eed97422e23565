#ifndef MUSTER_AGENT_OPTIONS_WORKER_COMMAND_H_
#define MUSTER_AGENT_OPTIONS_WORKER_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/options/machine_facts.h"
#include "agent/options/run_options.h"

namespace muster {

// The command of every worker: Python (PYTHON_EXEC, else python3 or python of
// PATH) with -u before a *.py, a module or a run path; else the program
// itself. InvalidArgument where Python is needed and there is none. Pure.
absl::StatusOr<std::vector<std::string>> WorkerCommand(
    const RunOptions& options, const MachineFacts& facts);

// Whether what `options` name is there, before anything is started, as a shell
// or Python would say it. NotFound: no such program (exit 127) ;
// PermissionDenied: not executable (exit 126); InvalidArgument: no such script
// (exit 2). Looks at the file system.
absl::Status CheckProgram(const RunOptions& options, const MachineFacts& facts);

}  // namespace muster

#endif  // MUSTER_AGENT_OPTIONS_WORKER_COMMAND_H_
