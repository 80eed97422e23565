#ifndef MUSTER_TRAINER_SDK_ZERO_SHARD_PARTITION_H_
#define MUSTER_TRAINER_SDK_ZERO_SHARD_PARTITION_H_

#include <cstdint>
#include <vector>

#include "trainer_sdk/ddp/gradient_bucket.h"
#include "trainer_sdk/optim/optimizer_shard.h"

namespace muster {

// Which part of a bucket is whose: parts follow each other in rank order, and
// their lengths differ by one element at most, so that ranks need not divide
// the elements, nor be fewer. Pure.

// Elements of each rank's part of `count`. Needs ranks >= 1.
std::vector<int64_t> ShardCounts(int64_t count, int ranks);

// The first element of `rank`'s part.
int64_t ShardBegin(int64_t count, int rank, int ranks);

// A piece of a parameter that is this rank's, and where it lies.
struct ShardPiece {
  ParameterRange range;
  int bucket = 0;
  // Of its first element in the bucket.
  int64_t offset = 0;
};

// All pieces of `rank`'s parts of `buckets`, in the buckets' order; none is
// empty.
std::vector<ShardPiece> PiecesOf(const std::vector<GradientBucket>& buckets,
                                 int rank, int ranks);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_ZERO_SHARD_PARTITION_H_
