#ifndef MUSTER_LAUNCHER_CONFIG_CONFIG_FILE_H_
#define MUSTER_LAUNCHER_CONFIG_CONFIG_FILE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/config/config_meaning.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// Interprets the text of a configuration file. The file has Accelerate's format
// if it contains `distributed_type:` or `compute_environment:`, InstructLab's
// format if it contains a `train:` section, and otherwise Muster's own format.
// Pure. InvalidArgument: "FILE:LINE: what is wrong".
absl::StatusOr<ConfigMeaning> ReadConfig(
    const std::string& text, const std::vector<Flag>& flags,
    const ConfigSurroundings& surroundings);

// Returns the facts on which the meaning of the configuration file at `path`
// depends, in addition to the file's text: the argument `surroundings` of
// ReadConfig.
ConfigSurroundings SurroundingsOf(
    const std::string& path,
    const std::map<std::string, std::string>& environment);

// Returns the text of the configuration file at `path`. InvalidArgument: the
// file cannot be read or is too large.
absl::StatusOr<std::string> ReadConfigText(const std::string& path);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_CONFIG_FILE_H_
