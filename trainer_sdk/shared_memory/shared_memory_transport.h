#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_SHARED_MEMORY_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_SHARED_MEMORY_TRANSPORT_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// Options that determine how much memory a group uses. Rank 0's options apply
// to all ranks.
struct SharedMemoryOptions {
  // The size in bytes of each rank's staging memory, through which buffers
  // outside the symmetric heap are copied. The memory has three slots, and each
  // round of a collective uses one of them. The minimum is 12 KiB, or 3 KiB per
  // rank if that is more. Values out of range are replaced by the nearest valid
  // one.
  int64_t staging_bytes = 3 << 19;
  // The size in bytes of the ring buffer for messages from one rank to another,
  // allocated with the first message.
  int64_t channel_bytes = 256 << 10;
};

// Makes the shared memory transport ("shm") of a group whose ranks are
// processes or threads of one user on one host, in one network namespace.
// Collective. Blocks until all ranks have joined, or fails at `deadline`
// (MonotonicNow's clock) at the latest.
//
// Supports every operation and dtype, in CPU memory. Reductions follow the rank
// order: the result is deterministic and bit-identical on all ranks, whatever
// memory holds the buffers. Allocate returns memory of the symmetric heap; a
// collective of at least 1 KiB (16 KiB if ranks share cores) makes no copies in
// staging memory if all its buffers are in the heap. Memory comes from memfd
// and its pages are reserved at once: nothing is left in /dev/shm, its limits
// do not apply, and later accesses cannot fail.
//
// Messages between two ranks arrive in the order in which they were sent. A
// receive fails with FailedPrecondition if the next message has another tag.
// Only a batch accepts the tags of its messages in any order.
//
// Errors besides those of Transport:
//   ResourceExhausted  not enough memory or descriptors: the message gives
//                      the requested amount and the limit. The group stays
//                      usable, unless it was being formed.
absl::StatusOr<std::unique_ptr<Transport>> NewSharedMemoryTransport(
    const GroupPlace& place, const SharedMemoryOptions& options,
    Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_SHARED_MEMORY_TRANSPORT_H_
