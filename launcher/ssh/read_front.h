#ifndef MUSTER_LAUNCHER_SSH_READ_FRONT_H_
#define MUSTER_LAUNCHER_SSH_READ_FRONT_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "launcher/options/run_options.h"
#include "launcher/ssh/remote_plan.h"
#include "launcher/voice.h"

namespace muster::launcher {

// Reads the local files that a job over ssh needs, and makes the plan: the host
// file, .deepspeed_env in the home folder and then in the working directory
// (DS_ENV_FILE gives another name, as in DeepSpeed), the token, and the working
// directory.
//
// InvalidArgument, one line: an error in a file or in the options.
absl::StatusOr<RemotePlan> ReadFront(
    const RunOptions& options,
    const std::map<std::string, std::string>& environment, const Voice& voice);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_READ_FRONT_H_
