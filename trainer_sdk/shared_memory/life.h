#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_LIFE_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_LIFE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"

namespace muster {

// Shows other processes whether this one lives. `told` is sent to them: a
// descriptor that becomes readable or hung up when this process ends, and never
// before. Pids are not compared anywhere, so neither their reuse nor pid
// namespaces matter.
//
// It is a pidfd of this process. If the kernel has none (before 5.3, or
// forbidden in a sandbox), it is a pipe whose other end is `kept`; then a child
// that was forked without exec must have ended as well.
struct LifeSign {
  OwnedFd told;
  OwnedFd kept;
};
absl::StatusOr<LifeSign> MakeLifeSign();

// The indices in `told` of the processes that have ended. An entry of -1 is
// skipped and counts as alive.
std::vector<int> Gone(const std::vector<int>& told);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_LIFE_H_
