#ifndef MUSTER_LAUNCHER_CONFIG_CONFIG_DEFAULTS_H_
#define MUSTER_LAUNCHER_CONFIG_CONFIG_DEFAULTS_H_

#include <map>
#include <string>
#include <vector>

#include "launcher/options/defaults.h"
#include "launcher/options/flag.h"

namespace muster::launcher {

// The values that `launch` takes from outside its command line: from the
// --config file and from the cluster (FileAndCluster).
DefaultsSource LaunchDefaults(
    const std::vector<Flag>& flags,
    const std::map<std::string, std::string>& environment);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_CONFIG_CONFIG_DEFAULTS_H_
