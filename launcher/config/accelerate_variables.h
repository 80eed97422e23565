#ifndef MUSTER_LAUNCHER_CONFIG_ACCELERATE_VARIABLES_H_
#define MUSTER_LAUNCHER_CONFIG_ACCELERATE_VARIABLES_H_

#include <map>
#include <string>
#include <vector>

#include "launcher/config/config_meaning.h"
#include "launcher/config/yaml_value.h"

namespace muster::launcher {

// How an Accelerate configuration starts its processes.
enum class AccelerateKind {
  kSimple,  // NO, MULTI_CPU
  kMultiGpu,
  kFsdp,
  kDeepSpeed,
};

// The variables by which `accelerate launch` (1.15) tells its configuration to
// the processes that it starts, value for value; OMP_NUM_THREADS, MASTER_ADDR
// and MASTER_PORT are the launcher's and left to it. Keys of the sections that
// Accelerate does not know go to `ignored`. Pure.
std::map<std::string, std::string> AccelerateVariables(
    const YamlValue& document, AccelerateKind kind,
    const ConfigSurroundings& surroundings, std::vector<IgnoredKey>& ignored);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_ACCELERATE_VARIABLES_H_
