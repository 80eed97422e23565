#ifndef MUSTER_LAUNCHER_OPTIONS_PREEMPTION_FLAGS_H_
#define MUSTER_LAUNCHER_OPTIONS_PREEMPTION_FLAGS_H_

#include "agent/preemption/preemption_options.h"
#include "launcher/options/flag_values.h"

namespace muster::launcher {

// Reads the flags of FlagGroup::kPreemption; errors go to `values`.
agent::PreemptionOptions ReadPreemptionOptions(FlagValues& values);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_PREEMPTION_FLAGS_H_
