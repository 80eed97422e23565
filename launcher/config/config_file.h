#ifndef MUSTER_LAUNCHER_CONFIG_CONFIG_FILE_H_
#define MUSTER_LAUNCHER_CONFIG_CONFIG_FILE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/config/config_meaning.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// What a configuration file's text means, whichever of the forms it has:
// Accelerate's by its `distributed_type:` or `compute_environment:`,
// InstructLab's by its `train:` section, else our own. Pure.
// InvalidArgument: "FILE:LINE: what is wrong".
absl::StatusOr<ConfigMeaning> ReadConfig(
    const std::string& text, const std::vector<Flag>& flags,
    const ConfigSurroundings& surroundings);

// Where `launch` reads the file at `path`.
ConfigSurroundings SurroundingsOf(
    const std::string& path,
    const std::map<std::string, std::string>& environment);

// The text of the file; NotFound, InvalidArgument: it cannot be read or is too
// large.
absl::StatusOr<std::string> ReadConfigText(const std::string& path);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_CONFIG_FILE_H_
