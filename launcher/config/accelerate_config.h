#ifndef MUSTER_LAUNCHER_CONFIG_ACCELERATE_CONFIG_H_
#define MUSTER_LAUNCHER_CONFIG_ACCELERATE_CONFIG_H_

#include "absl/status/statusor.h"
#include "launcher/config/config_meaning.h"
#include "launcher/config/yaml_value.h"

namespace muster::launcher {

// What `accelerate config` writes: the part that concerns launching as flags,
// and what Accelerate must read in the worker as the variables by which
// `accelerate launch` tells it (accelerate_variables.h). Pure.
// InvalidArgument: "FILE:LINE: what is wrong", as unknown keys are there too.
absl::StatusOr<ConfigMeaning> ReadAccelerateConfig(
    const YamlValue& document, const ConfigSurroundings& surroundings);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_ACCELERATE_CONFIG_H_
