#ifndef MUSTER_TRAINER_SDK_SHARED_MEMORY_GATHERING_H_
#define MUSTER_TRAINER_SDK_SHARED_MEMORY_GATHERING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// A sign by which other processes detect the end of this process. `told` is a
// file descriptor that is sent to the other processes. After this process has
// ended, and never before, poll reports POLLIN or POLLHUP for `told`. Pids are
// not compared, so a pid may be reused, and the processes may be in different
// pid namespaces.
//
// Usually `told` is a pidfd of this process. If the kernel has no pidfds
// (before 5.3, or forbidden in a sandbox), `told` is one end of a pipe, and
// this process keeps the other end, `kept`. Children that this process forks
// without exec hold copies of `kept`. With a pipe, the end of this process is
// therefore detected only after these children have ended too.
struct LifeSign {
  OwnedFd told;
  OwnedFd kept;
};
absl::StatusOr<LifeSign> MakeLifeSign();

// `told` has one descriptor (LifeSign::told) for each process. Returns the
// indices of the processes that have ended. An entry of -1 counts as a running
// process.
std::vector<int> Gone(const std::vector<int>& told);

// The sizes in bytes of the staging slots and ring buffers in a group's shared
// memory. Rank 0's sizes apply to all ranks.
struct Dimensions {
  int64_t slot_bytes = 0;
  int64_t channel_bytes = 0;
};

// The result of Gather for one rank: the group's shared memory, descriptors
// that show when other ranks end, and connections to other ranks.
struct Gathered {
  Dimensions dimensions;
  // descriptor of the group's shared memory, whose bytes are initially zero
  OwnedFd memory;
  LifeSign own_life;
  // Indexed by rank: the descriptor that shows when that rank's process ends
  // (LifeSign::told); not open for this rank itself.
  std::vector<OwnedFd> lives;
  // Connections over which ranks send each other descriptors later. Rank 0 has
  // one to each other rank, indexed by rank; any other rank has only the
  // connection to rank 0, at index 0.
  std::vector<OwnedFd> connections;
};

// Connects the ranks of the group of `place`, all on one host. Rank 0 creates
// the shared memory and listens on a socket. Rank 0 publishes the socket's
// unguessable name and a secret in the store. The other ranks connect and
// receive the memory's descriptor. Only processes of the same user that know
// the secret receive the descriptor. Blocks until `deadline` at most.
//
// Errors: DeadlineExceeded names the absent ranks; Unavailable: a rank died
// (the message names it), or rank 0 is on another host or in another network
// namespace; ResourceExhausted; and the store's errors.
absl::StatusOr<Gathered> Gather(const GroupPlace& place,
                                const Dimensions& dimensions, Instant deadline);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_SHARED_MEMORY_GATHERING_H_
