#ifndef MUSTER_LAUNCHER_BOOTSTRAP_H_
#define MUSTER_LAUNCHER_BOOTSTRAP_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "agent/guardian/guardian.h"
#include "launcher/options/machine.h"
#include "launcher/options/run_options.h"
#include "launcher/voice.h"

namespace muster::launcher {

// Functions that start a `launch` or an `agent` process.

// Takes the token out of the environment, prepares the process, runs `main` and
// returns the exit code. Preparation: descriptors 0 to 2 are opened, the limits
// of the process are read, and other processes of the user are kept from
// reading this one (base/secrets.h).
//
// An agent also starts its own program file as a helper process, for example to
// make an NCCL id. If `argv` names such a helper, runs the helper instead of
// `main`.
int StartProgram(const char* name, int argc, char** argv,
                 const std::function<int()>& main);

// A node whose options have been checked on this machine.
struct PreparedNode {
  MachineFacts facts;  // facts of this machine, without its network addresses
  std::string token;   // the secret with which nodes join the job; empty: none
  std::unique_ptr<agent::Guardian> guardian;
};

// Prepares this node. Checks the program, the token, the files for TLS and the
// limits of the process. Then forks the guardian (the workers' parent process),
// prints RunOptions::remarks, and reads the facts of this machine. Must be
// called while the process has one thread. Errors: one line each, for
// Voice::Refuse.
absl::StatusOr<PreparedNode> PrepareNode(
    const RunOptions& options,
    const std::map<std::string, std::string>& environment, const Voice& voice);

// Checks that workers' output can be written to the log folder of `options` and
// `logs`. Unavailable: the folder is not writable; the message says why.
absl::Status CheckLogFolder(const RunOptions& options,
                            const agent::LogPlan& logs);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_BOOTSTRAP_H_
