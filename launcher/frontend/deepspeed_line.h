#ifndef MUSTER_LAUNCHER_FRONTEND_DEEPSPEED_LINE_H_
#define MUSTER_LAUNCHER_FRONTEND_DEEPSPEED_LINE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/frontend/frontend.h"
#include "launcher/hostfile/host_file.h"
#include "launcher/options/command_line.h"

namespace muster::launcher {

// Where DeepSpeed looks for a host file that nobody named.
inline constexpr char kDeepSpeedHostFile[] = "/job/hostfile";

// The path of the host file that `line` (of DeepSpeedFlags) asks for.
std::string HostFileOf(const CommandLine& line);

// The command line of DeepSpeed's launcher in our words. `hosts`: what its host
// file holds; nothing: there is none, and this node is the only one. Pure.
// InvalidArgument, one line that begins with the flag: what DeepSpeed refuses,
// or what is not done here.
absl::StatusOr<OwnLine> OwnLineOfDeepSpeed(
    const CommandLine& line, const std::optional<std::vector<Host>>& hosts);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_FRONTEND_DEEPSPEED_LINE_H_
