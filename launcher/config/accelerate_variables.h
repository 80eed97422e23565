#ifndef MUSTER_LAUNCHER_CONFIG_ACCELERATE_VARIABLES_H_
#define MUSTER_LAUNCHER_CONFIG_ACCELERATE_VARIABLES_H_

#include <map>
#include <string>
#include <vector>

#include "launcher/config/config_meaning.h"
#include "launcher/config/yaml_value.h"

namespace muster::launcher {

// The kind of training that an Accelerate configuration describes. The kind
// decides which environment variables the processes get.
enum class AccelerateKind {
  kSimple,  // no FSDP, DeepSpeed or the like: distributed_type NO or MULTI_CPU
  kMultiGpu,
  kFsdp,
  kDeepSpeed,
};

// The variables that `accelerate launch` (1.15) sets in its processes for this
// configuration, with the same values. OMP_NUM_THREADS, MASTER_ADDR and
// MASTER_PORT are left to the launcher. Keys that Accelerate does not know in a
// section are appended to `ignored`. Pure.
std::map<std::string, std::string> AccelerateVariables(
    const YamlValue& document, AccelerateKind kind,
    const ConfigSurroundings& surroundings, std::vector<IgnoredKey>& ignored);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_ACCELERATE_VARIABLES_H_
