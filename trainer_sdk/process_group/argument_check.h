#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_ARGUMENT_CHECK_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_ARGUMENT_CHECK_H_

#include <vector>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Whether operations of this kind divide a buffer into one part per rank. If
// so, an operation may have a list of counts with one entry per rank.
bool HasParts(OperationKind kind);

// Checks that rank `rank` of a group of `size` ranks can perform `operation`.
// The peer or root must be a rank of the group. Only operations with parts may
// have lists of counts, with one entry per rank. No count may be negative or
// too large. Buffers must not be null, and may overlap only in place (see
// operation.h). Returns OK, or InvalidArgument with a message of one line. Does
// not allocate if the arguments are valid. Pure.
absl::Status CheckArguments(const Operation& operation, int rank, int size);

// Checks the arguments from which a group is made. The rank in `place` must be
// in range, and `global_ranks` must be empty or have one entry per member. A
// group of several ranks must have a store. Returns OK or InvalidArgument with
// one line. Pure.
absl::Status CheckPlace(const GroupPlace& place,
                        const std::vector<int>& global_ranks);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_ARGUMENT_CHECK_H_
