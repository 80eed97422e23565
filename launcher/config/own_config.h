#ifndef MUSTER_LAUNCHER_CONFIG_OWN_CONFIG_H_
#define MUSTER_LAUNCHER_CONFIG_OWN_CONFIG_H_

#include <vector>

#include "absl/status/statusor.h"
#include "launcher/config/config_meaning.h"
#include "launcher/config/yaml_value.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// Our own form: flags' names as keys, with dashes or underscores, `program:` (a
// text, parted as a shell does, or a list) and `env:` (a map of variables,
// without those that the agent sets itself). A flag that takes a list may be
// given one. Pure. InvalidArgument: "FILE:LINE: what is wrong".
absl::StatusOr<ConfigMeaning> ReadOwnConfig(
    const YamlValue& document, const std::vector<Flag>& flags,
    const ConfigSurroundings& surroundings);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_OWN_CONFIG_H_
