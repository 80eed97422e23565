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

// The beginning that `launch` and `agent` share.

// Runs `main` once descriptors 0 to 2 are open and the limits of the process
// are known; or, where `argv` names one of the helper processes that an agent
// starts from its own program file (the maker of NCCL ids, the start of another
// framework's worker), that helper. Returns the exit code.
int StartProgram(const char* name, int argc, char** argv,
                 const std::function<int()>& main);

// A node whose options have been checked as far as one node can.
struct PreparedNode {
  MachineFacts facts;  // the network's addresses are not read yet
  std::string token;   // the job's secret; empty: none
  std::unique_ptr<agent::Guardian> guardian;
};

// Checks the program, the token and the limits of the process, forks the
// guardian, says the options' remarks, and reads the machine. Call while the
// process has one thread. Errors: one line each, for Voice::Refuse.
absl::StatusOr<PreparedNode> PrepareNode(
    const RunOptions& options,
    const std::map<std::string, std::string>& environment, const Voice& voice);

// Whether workers' output can be written where `options` and `logs` say.
// Unavailable: it cannot, and why.
absl::Status CheckLogFolder(const RunOptions& options,
                            const agent::LogPlan& logs);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_BOOTSTRAP_H_
