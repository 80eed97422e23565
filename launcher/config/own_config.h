#ifndef MUSTER_LAUNCHER_CONFIG_OWN_CONFIG_H_
#define MUSTER_LAUNCHER_CONFIG_OWN_CONFIG_H_

#include <vector>

#include "absl/status/statusor.h"
#include "launcher/config/config_meaning.h"
#include "launcher/config/yaml_value.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// Reads Muster's own format. Its keys are names of flags with dashes or
// underscores, `program:` (a list, or a text that is split like a shell
// command) and `env:` (a map of variables, except those that the agent sets
// itself). A flag that takes a list accepts a YAML list. Pure. InvalidArgument:
// "FILE:LINE: what is wrong".
absl::StatusOr<ConfigMeaning> ReadOwnConfig(
    const YamlValue& document, const std::vector<Flag>& flags,
    const ConfigSurroundings& surroundings);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_OWN_CONFIG_H_
