#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_CAUSE_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_CAUSE_H_

#include "absl/status/status.h"
#include "trainer_sdk/shared_memory/layout.h"

namespace muster {

// The cause for which a group is broken: one for all ranks, the first that was
// set.

inline bool IsBroken(const GroupPage& group) {
  return group.broken.load(std::memory_order_acquire) != 0;
}

// Breaks the group with `cause`, which must not be OK, unless it is broken
// already. The caller must wake the sleepers.
void SetCause(GroupPage& group, int rank, const absl::Status& cause);

// The cause of a broken group. Unavailable with the rank's number if the rank
// that broke the group died while it wrote the cause.
absl::Status CauseOf(const GroupPage& group);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_CAUSE_H_
