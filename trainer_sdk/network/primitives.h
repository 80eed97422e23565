#ifndef MUSTER_TRAINER_SDK_NETWORK_PRIMITIVES_H_
#define MUSTER_TRAINER_SDK_NETWORK_PRIMITIVES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/network/parts.h"
#include "trainer_sdk/network/scratch.h"

namespace muster {

// The building blocks of collectives. All ranks involved call the same
// function. `element`: size of an element in bytes.

// The amount of data that is received before it is reduced or forwarded: small
// enough to be still in the cache, large enough for a system call.
inline constexpr int64_t kSegmentBytes = 128 << 10;

// The reduction. For AVG every step but the last computes sums.
struct Reduction {
  DType dtype = DType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
};

// Copies unless `to` and `from` are equal.
void CopyUnlessSame(void* to, const void* from, int64_t bytes);

// Sends part r of rank r's `whole` to all other ranks; afterwards `whole` is
// complete.
absl::Status GatherToAll(Mesh& mesh, const RankParts& parts, int64_t element,
                         void* whole);

// Sends every rank's `own` to its part of the root's `whole`.
absl::Status GatherToRoot(Mesh& mesh, const RankParts& parts, int64_t element,
                          int root, const void* own, void* whole);

// Sends part r of the root's `whole` to `own` of rank r.
absl::Status ScatterFromRoot(Mesh& mesh, const RankParts& parts,
                             int64_t element, int root, const void* whole,
                             void* own);

// Reduces the ranks' `input` in rank order. Part r goes to rank r's `output`,
// which may be its own part of its input.
absl::Status ReduceToOwners(Mesh& mesh, const RankParts& parts,
                            Reduction reduction, const void* input,
                            void* output, Scratch& scratch);

// Sends the root's `data` to all ranks along a binomial tree.
absl::Status BroadcastDownTree(Mesh& mesh, int root, void* data, int64_t bytes);

// A barrier: returns only after every rank has called it.
absl::Status Disseminate(Mesh& mesh);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_PRIMITIVES_H_
