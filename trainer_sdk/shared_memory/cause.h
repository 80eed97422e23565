#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_CAUSE_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_CAUSE_H_

#include "absl/status/status.h"
#include "trainer_sdk/shared_memory/layout.h"

namespace muster {

// Why a group is broken: one cause for all ranks, the first one told.

inline bool IsBroken(const GroupPage& group) {
  return group.broken.load(std::memory_order_acquire) != 0;
}

// Breaks the group for `cause`, which is not OK, unless it is broken already.
// Whoever sleeps must be woken by the caller.
void SetCause(GroupPage& group, int rank, const absl::Status& cause);

// The cause of a broken group. Where the rank that broke it died while it
// wrote the cause down: Unavailable, with that rank's number.
absl::Status CauseOf(const GroupPage& group);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_CAUSE_H_
