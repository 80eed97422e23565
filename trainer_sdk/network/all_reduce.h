#ifndef MUSTER_TRAINER_SDK_NETWORK_ALL_REDUCE_H_
#define MUSTER_TRAINER_SDK_NETWORK_ALL_REDUCE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/network/primitives.h"
#include "trainer_sdk/network/scratch.h"

namespace muster {

// How an all_reduce is done.
enum class AllReduceWay {
  kDirect,    // everybody sends all to all: one hop, few small ranks
  kDoubling,  // recursive doubling: log2(n) hops, many small ranks
  kRing,      // 2(n-1) hops, each rank sends 2(n-1)/n of the bytes: large ones
};

// The quickest of a group of `size` with this much to reduce. Pure.
AllReduceWay WayOf(int size, int64_t bytes);

// Reduces every rank's `input` into every rank's `output`, which may be the
// same. The same bits on every rank.
absl::Status AllReduceOver(Mesh& mesh, AllReduceWay way, Reduction reduction,
                           const void* input, void* output, int64_t count,
                           Scratch& scratch);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_ALL_REDUCE_H_
