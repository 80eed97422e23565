#ifndef MUSTER_LAUNCHER_OPTIONS_FITNESS_FLAGS_H_
#define MUSTER_LAUNCHER_OPTIONS_FITNESS_FLAGS_H_

#include "agent/fitness/fitness_options.h"
#include "launcher/options/flag_values.h"

namespace muster::launcher {

// Reads the flags of FlagGroup::kFitness; errors go to `values`.
agent::FitnessOptions ReadFitnessOptions(FlagValues& values);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_OPTIONS_FITNESS_FLAGS_H_
