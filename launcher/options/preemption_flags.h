#ifndef MUSTER_LAUNCHER_OPTIONS_PREEMPTION_FLAGS_H_
#define MUSTER_LAUNCHER_OPTIONS_PREEMPTION_FLAGS_H_

#include "agent/preemption/preemption_options.h"
#include "launcher/options/flag_values.h"

namespace muster {

// Reads the flags of FlagGroup::kPreemption; errors go to `values`.
PreemptionOptions ReadPreemptionOptions(FlagValues& values);

}  // namespace muster

#endif  // MUSTER_LAUNCHER_OPTIONS_PREEMPTION_FLAGS_H_
