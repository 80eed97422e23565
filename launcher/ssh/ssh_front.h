#ifndef MUSTER_LAUNCHER_SSH_SSH_FRONT_H_
#define MUSTER_LAUNCHER_SSH_SSH_FRONT_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "launcher/options/run_options.h"
#include "launcher/ssh/remote_plan.h"
#include "launcher/voice.h"

namespace muster::launcher {

// Makes the plan of a job over ssh. Reads from this machine the host file, the
// token, the working directory and .deepspeed_env. .deepspeed_env is read first
// in the home folder, then in the working directory. DS_ENV_FILE gives another
// name for this file, as in DeepSpeed.
//
// InvalidArgument, one line: an error in a file or in the options.
absl::StatusOr<RemotePlan> ReadFront(
    const RunOptions& options,
    const std::map<std::string, std::string>& environment, const Voice& voice);

// The exit code of a job over ssh, and the reasons why agents failed or did not
// run, by host name.
struct RemoteEnd {
  int exit_code = 0;
  std::map<std::string, std::string> failed;
};

// Runs the job that `plan` describes. `name`: the prefix of messages of this
// process and of the agents. Must be called while the process has one thread.
RemoteEnd RunRemotePlan(RemotePlan plan, const RunOptions& options,
                        const std::string& name);

// Implements `launch --hostfile FILE PROGRAM`: starts the job's agents over
// ssh, prints their output, forwards signals and prints the verdict. Returns
// the job's exit code. Call while the process has one thread.
int RunSshFront(const std::string& name, const RunOptions& options,
                const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_SSH_FRONT_H_
