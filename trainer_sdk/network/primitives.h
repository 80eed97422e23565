#ifndef MUSTER_TRAINER_SDK_NETWORK_PRIMITIVES_H_
#define MUSTER_TRAINER_SDK_NETWORK_PRIMITIVES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/network/parts.h"
#include "trainer_sdk/network/scratch.h"

namespace muster {

// The steps that collectives are put together from. Whoever sends and whoever
// receives call the same one; parts are of `element` bytes.

// How much is received before it is reduced or passed on: small enough to be
// still in the cache then, large enough to be worth a system call.
inline constexpr int64_t kSegmentBytes = 128 << 10;

// What is reduced, and how. AVG is summed by every step but the last.
struct Reduction {
  DType dtype = DType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
};

// Copies unless it is the same place.
void CopyUnlessSame(void* to, const void* from, int64_t bytes);

// Part r of rank r's `whole` goes to all others; afterwards `whole` is whole.
absl::Status GatherToAll(Mesh& mesh, const RankParts& parts, int64_t element,
                         void* whole);

// Every rank's `own` goes to its part of the root's `whole`.
absl::Status GatherToRoot(Mesh& mesh, const RankParts& parts, int64_t element,
                          int root, const void* own, void* whole);

// Part r of the root's `whole` goes to rank r's `own`.
absl::Status ScatterFromRoot(Mesh& mesh, const RankParts& parts,
                             int64_t element, int root, const void* whole,
                             void* own);

// Reduces every rank's `input` in the order of ranks; part r goes to rank r's
// `output`, which may be its own part of its input.
absl::Status ReduceToOwners(Mesh& mesh, const RankParts& parts,
                            Reduction reduction, const void* input,
                            void* output, Scratch& scratch);

// The root's `data` goes to all, down a binomial tree.
absl::Status BroadcastDownTree(Mesh& mesh, int root, void* data, int64_t bytes);

// Nobody leaves before everybody has come.
absl::Status Disseminate(Mesh& mesh);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NETWORK_PRIMITIVES_H_
