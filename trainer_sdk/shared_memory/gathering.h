#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_GATHERING_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_GATHERING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "trainer_sdk/process_group/transport.h"

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

// The sizes of slots and rings; rank 0's apply to all ranks.
struct Dimensions {
  int64_t slot_bytes = 0;
  int64_t channel_bytes = 0;
};

// The result of Gather on each rank.
struct Gathered {
  Dimensions dimensions;
  OwnedFd memory;  // the group's shared memory, initially zero
  LifeSign own_life;
  // by rank: LifeSign::told; not open for this rank
  std::vector<OwnedFd> lives;
  // Connections that pass further descriptors: rank 0 has one to each rank; the
  // others have one, to rank 0, at [0].
  std::vector<OwnedFd> connections;
};

// Connects the ranks of `place`, all on one host. Rank 0 creates the memory and
// listens at an unguessable name that it publishes in the store; the others
// connect and receive the memory's descriptor. Only processes of the same user
// that know the store's secret get it. Blocks until `deadline` at most.
//
// Errors: DeadlineExceeded names the absent ranks; Unavailable: a rank died
// (named), or rank 0 is on another host or in another network namespace;
// ResourceExhausted; and the store's errors.
absl::StatusOr<Gathered> Gather(const GroupPlace& place,
                                const Dimensions& dimensions, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_GATHERING_H_
