#ifndef MUSTER_LAUNCHER_FRONTEND_DEEPSPEED_LINE_H_
#define MUSTER_LAUNCHER_FRONTEND_DEEPSPEED_LINE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "launcher/frontend/frontend.h"
#include "launcher/hostfile/host_file.h"
#include "launcher/options/command_line.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// The flags of DeepSpeed's launcher (0.19). The help text of each flag says
// what `launch` does with the flag.
std::vector<Flag> DeepSpeedFlags();

// Replaces flag names in `error` by the names that DeepSpeed's users know.
// Flags of `launch` get the name of DeepSpeed's flag: --nproc-per-node becomes
// --num_gpus. Flags of DeepSpeed are spelled with underscores: --master-port
// becomes --master_port.
absl::Status WithDeepSpeedFlagNames(const absl::Status& error);

// The host file that DeepSpeed reads if no --hostfile is given.
inline constexpr char kDeepSpeedHostFile[] = "/job/hostfile";

// The path of the host file that DeepSpeed's launcher would read: the value of
// --hostfile, or kDeepSpeedHostFile without this flag. `line`: a command line
// that was parsed with DeepSpeedFlags().
std::string HostFileOf(const CommandLine& line);

// Translates a command line of DeepSpeed's launcher to a command line of
// `launch`. `hosts`: the content of the host file; nullopt: there is no such
// file, and only this node is used. Pure. InvalidArgument, one line that begins
// with the flag: DeepSpeed rejects the flag too, or `launch` does not support
// it.
absl::StatusOr<OwnLine> OwnLineOfDeepSpeed(
    const CommandLine& line, const std::optional<std::vector<Host>>& hosts);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_FRONTEND_DEEPSPEED_LINE_H_
