#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_PLAIN_COLLECTIVES_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_PLAIN_COLLECTIVES_H_

#include <vector>

#include "trainer_sdk/process_group/operation.h"

namespace muster {

// Does one collective for all its ranks at once, given what each asked for in
// rank order; all of one process and agreeing with each other.
void ComputeCollective(const std::vector<const Operation*>& ranks);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_PLAIN_COLLECTIVES_H_
