#ifndef MUSTER_TRAINER_SDK_ZERO_SHARD_PARTITION_H_
#define MUSTER_TRAINER_SDK_ZERO_SHARD_PARTITION_H_

#include <cstdint>
#include <vector>

#include "trainer_sdk/ddp/gradient_bucket.h"
#include "trainer_sdk/optim/optimizer_shard.h"

namespace muster {

// The partition of a bucket among ranks: contiguous parts in rank order, whose
// lengths differ by at most one element. The number of ranks need not divide
// the number of elements and may exceed it. Pure.

// The number of elements in each rank's part of `count`. `ranks` must be at
// least 1.
std::vector<int64_t> ShardCounts(int64_t count, int ranks);

// The index of the first element of `rank`'s part.
int64_t ShardBegin(int64_t count, int rank, int ranks);

// A range of a parameter that belongs to this rank, and its position in a
// bucket.
struct ShardPiece {
  ParameterRange range;
  int bucket = 0;
  // Offset of its first element in the bucket, in elements.
  int64_t offset = 0;
};

// All pieces of `rank`'s parts of `buckets`, in the order of the buckets; empty
// ranges are left out.
std::vector<ShardPiece> PiecesOf(const std::vector<GradientBucket>& buckets,
                                 int rank, int ranks);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_ZERO_SHARD_PARTITION_H_
