#ifndef MUSTER_LAUNCHER_CONFIG_ACCELERATE_CONFIG_H_
#define MUSTER_LAUNCHER_CONFIG_ACCELERATE_CONFIG_H_

#include "absl/status/statusor.h"
#include "launcher/config/config_meaning.h"
#include "launcher/config/yaml_value.h"

namespace muster::launcher {

// Reads a file of `accelerate config`. The keys about launching become flags.
// The keys that Accelerate reads in the worker become variables, as in
// `accelerate launch` (accelerate_variables.h). Pure. InvalidArgument:
// "FILE:LINE: what is wrong", also for unknown keys.
absl::StatusOr<ConfigMeaning> ReadAccelerateConfig(
    const YamlValue& document, const ConfigSurroundings& surroundings);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_ACCELERATE_CONFIG_H_
