#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_GATHERING_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_GATHERING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "trainer_sdk/process_group/transport.h"
#include "trainer_sdk/shared_memory/life.h"

namespace muster {

// How the shared memory is cut; rank 0's holds for all.
struct Dimensions {
  int64_t slot_bytes = 0;
  int64_t channel_bytes = 0;
};

// What a rank has once all ranks of a group have met.
struct Gathered {
  Dimensions dimensions;
  OwnedFd memory;  // the group's shared memory, all zeros so far
  LifeSign own_life;
  std::vector<OwnedFd> lives;  // by rank, see LifeSign; none of its own
  // To pass further descriptors: rank 0 has one to each rank, the others have
  // one at [0].
  std::vector<OwnedFd> connections;
};

// Brings the ranks of `place` together, all on one host. Rank 0 creates the
// memory and listens at a name that nobody can guess and that only the store
// tells; the others connect and are handed the memory. Only processes of the
// same user that know the store's secret get it.
//
// Errors: DeadlineExceeded names the absent ranks; Unavailable a rank that
// went away, or that rank 0 is not on this host (or in another network
// namespace); ResourceExhausted; and what the store says.
absl::StatusOr<Gathered> Gather(const GroupPlace& place,
                                const Dimensions& dimensions, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_GATHERING_H_
