#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_LIFE_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_LIFE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"

namespace muster {

// Tells other processes whether this one lives: `told` is for them, a
// descriptor that becomes readable or hung up when this process is gone, and
// never before. No pid is compared anywhere, so that neither its reuse nor a
// pid namespace can deceive.
//
// It is a pidfd of this process. Where the kernel has none (before 5.3, or
// forbidden in a sandbox) it is a pipe whose other end is `kept`; then a child
// that was forked without exec also has to end.
struct LifeSign {
  OwnedFd told;
  OwnedFd kept;
};
absl::StatusOr<LifeSign> MakeLifeSign();

// The `told` of others, of which some are gone: their places in `told`. -1 is
// nobody, and lives.
std::vector<int> Gone(const std::vector<int>& told);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_LIFE_H_
