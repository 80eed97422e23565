#ifndef MUSTER_LAUNCHER_SSH_SSH_FRONT_H_
#define MUSTER_LAUNCHER_SSH_SSH_FRONT_H_

#include <map>
#include <string>

#include "launcher/options/run_options.h"
#include "launcher/ssh/remote_plan.h"

namespace muster::launcher {

// How a job over ssh ended, and by name of the host why its agent did not run
// to a good end.
struct RemoteEnd {
  int exit_code = 0;
  std::map<std::string, std::string> failed;
};

// The job of a plan that is made. `name`: what messages of this process and of
// the agents begin with. Call while the process has one thread.
RemoteEnd RunRemotePlan(RemotePlan plan, const RunOptions& options,
                        const std::string& name);

// `launch --hostfile FILE PROGRAM`: starts the job's agents over ssh, shows
// what they print, passes signals on, and prints the verdict. The job's exit
// code. Call while the process has one thread.
int RunSshFront(const std::string& name, const RunOptions& options,
                const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_SSH_FRONT_H_
