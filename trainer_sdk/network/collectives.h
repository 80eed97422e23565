#ifndef MUSTER_TRAINER_SDK_NETWORK_COLLECTIVES_H_
#define MUSTER_TRAINER_SDK_NETWORK_COLLECTIVES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/network/primitives.h"
#include "trainer_sdk/process_group/operation.h"

namespace muster {

// The algorithms of all_reduce.
enum class AllReduceWay {
  // Each rank sends all its data to all other ranks, in one hop. Used for few
  // ranks and small data.
  kDirect,
  // Recursive doubling takes log2(n) hops for n ranks. Used for many ranks and
  // small data.
  kDoubling,
  // A ring takes 2(n-1) hops for n ranks, and each rank sends 2(n-1)/n times
  // the size of the data. Used for large data.
  kRing,
};

// Returns the fastest all_reduce algorithm for `bytes` bytes in a group of
// `size` ranks. Pure.
AllReduceWay WayOf(int size, int64_t bytes);

// Reduces the `input` of all ranks into the `output` of every rank. `input` and
// `output` may be the same memory. The result is bit-identical on every rank.
absl::Status AllReduceOver(Mesh& mesh, AllReduceWay way, Reduction reduction,
                           const void* input, void* output, int64_t count,
                           Scratch& scratch);

// Performs `operation` over `mesh`. The caller must call Mesh::Begin before,
// and Mesh::Finish after this function. All elements are reduced in the same
// order on every rank, so the result is bit-identical on every rank. The
// algorithm depends only on the operation's kind, the group's size and the
// number of bytes.
absl::Status RunOverMesh(const Operation& operation, Mesh& mesh,
                         Scratch& scratch);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_COLLECTIVES_H_
