#ifndef MUSTER_LAUNCHER_OPTIONS_FITNESS_FLAGS_H_
#define MUSTER_LAUNCHER_OPTIONS_FITNESS_FLAGS_H_

#include "agent/fitness/fitness_options.h"
#include "launcher/options/flag_values.h"

namespace muster {

// Reads the flags of FlagGroup::kFitness; errors go to `values`.
FitnessOptions ReadFitnessOptions(FlagValues& values);

}  // namespace muster

#endif  // MUSTER_LAUNCHER_OPTIONS_FITNESS_FLAGS_H_
