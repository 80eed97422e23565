#ifndef MUSTER_LAUNCHER_OPTIONS_HEALTH_FLAGS_H_
#define MUSTER_LAUNCHER_OPTIONS_HEALTH_FLAGS_H_

#include "agent/health/health_options.h"
#include "launcher/options/flag_values.h"

namespace muster::launcher {

// Reads the flags of FlagGroup::kHealth; errors go to `values`.
agent::HealthOptions ReadHealthOptions(FlagValues& values);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_HEALTH_FLAGS_H_
