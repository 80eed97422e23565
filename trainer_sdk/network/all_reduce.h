#ifndef MUSTER_TRAINER_SDK_NETWORK_ALL_REDUCE_H_
#define MUSTER_TRAINER_SDK_NETWORK_ALL_REDUCE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/network/primitives.h"
#include "trainer_sdk/network/scratch.h"

namespace muster {

// The algorithms for all_reduce.
enum class AllReduceWay {
  // each rank sends all data to all ranks: one hop; for few ranks and small
  // data
  kDirect,
  kDoubling,  // recursive doubling: log2(n) hops; for many ranks and small data
  kRing,  // 2(n-1) hops, each rank sends 2(n-1)/n of the bytes; for large data
};

// The fastest algorithm for `bytes` in a group of `size`. Pure.
AllReduceWay WayOf(int size, int64_t bytes);

// Reduces all ranks' `input` into every rank's `output`, which may be the same
// memory. Bit-identical on every rank.
absl::Status AllReduceOver(Mesh& mesh, AllReduceWay way, Reduction reduction,
                           const void* input, void* output, int64_t count,
                           Scratch& scratch);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_ALL_REDUCE_H_
