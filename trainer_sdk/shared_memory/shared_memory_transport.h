#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_SHARED_MEMORY_TRANSPORT_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_SHARED_MEMORY_TRANSPORT_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// What a group costs; rank 0's options hold for all.
struct SharedMemoryOptions {
  // Memory of each rank that buffers outside the symmetric heap are copied
  // through; the size of a round is a third of it. From 12 KiB (and 3 KiB for
  // each rank) on; too small or too large values are moved to the nearest
  // possible one.
  int64_t staging_bytes = 3 << 19;
  // Of the ring between each two ranks that send each other messages, once
  // they do.
  int64_t channel_bytes = 256 << 10;
};

// Connects the ranks of one group, which are processes (or threads) of one user
// on one host, in one network namespace: name() "shm". Collective; all ranks
// are there, or an error is returned, at the latest at `deadline`
// (MonotonicNow's clock).
//
// Does every operation for every dtype, on CPU memory. Reductions are done in
// the order of ranks: deterministic, and equal on all ranks bit for bit,
// wherever the buffers lie. Allocate gives memory of the symmetric heap:
// collectives whose buffers all lie in such memory are done without copies.
// Memory is nameless (memfd) and reserved when asked for: nothing can be left
// in /dev/shm, none of its limits apply, and no use of it can fail later.
//
// Messages between two ranks arrive in the order in which they were sent; a
// tag other than the receiver's next is an error, except within one batch,
// which takes its tags in any order.
//
// Errors besides those of Transport:
//   ResourceExhausted  there is no memory, or no descriptor, for that: the
//                      message says how much was asked and what is the limit.
//                      The group is as it was, unless it was being formed.
absl::StatusOr<std::unique_ptr<Transport>> NewSharedMemoryTransport(
    const GroupPlace& place, const SharedMemoryOptions& options,
    Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_SHARED_MEMORY_TRANSPORT_H_
