#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_ARGUMENT_CHECK_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_ARGUMENT_CHECK_H_

#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Whether rank `rank` of `size` can do `operation` at all: ranks in range,
// counts of the right number and size, buffers there and not overlapping but
// in place (see operation.h). InvalidArgument, one line. Never allocates where
// all is well. Pure.
absl::Status CheckArguments(const Operation& operation, int rank, int size);

// Whether a group can be made at `place`: a rank of the group, one world rank
// for each member or none, and a store unless the group is of one rank.
// InvalidArgument, one line. Pure.
absl::Status CheckPlace(const GroupPlace& place,
                        const std::vector<int>& global_ranks);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_ARGUMENT_CHECK_H_
