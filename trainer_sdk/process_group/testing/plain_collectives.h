#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_PLAIN_COLLECTIVES_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_PLAIN_COLLECTIVES_H_

#include <vector>

#include "trainer_sdk/process_group/operation.h"

namespace muster {

// Performs one collective for all ranks of one process at once. `ranks` holds
// each rank's operation, in rank order; they must match each other.
void ComputeCollective(const std::vector<const Operation*>& ranks);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_PLAIN_COLLECTIVES_H_
