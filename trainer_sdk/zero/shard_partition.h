#ifndef MUSTER_TRAINER_SDK_ZERO_SHARD_PARTITION_H_
#define MUSTER_TRAINER_SDK_ZERO_SHARD_PARTITION_H_

#include <cstdint>
#include <vector>

#include "trainer_sdk/ddp/gradient_bucket.h"
#include "trainer_sdk/optim/optimizer_shard.h"

namespace muster {

// How a bucket is divided among ranks: into contiguous parts in rank order. The
// number of elements need not be a multiple of the number of ranks, and may be
// smaller than that number. All functions of this file are pure.

enum class ShardForm {
  // The lengths of the ranks' parts differ by at most one element. Used for
  // host memory.
  kEven,
  // Every rank has a part of the same length, with which NCCL is fastest; this
  // length is a multiple of 64 elements. The last rank's part also contains the
  // elements that remain, fewer than 64 per rank. Used for devices.
  kAligned,
};

// How buckets in the memory of `device` are divided; null means the host.
ShardForm ShardFormOf(const Device* device);

// Returns the number of elements in each rank's part of a bucket of `count`
// elements. `ranks` must be at least 1.
std::vector<int64_t> ShardCounts(int64_t count, int ranks,
                                 ShardForm form = ShardForm::kEven);

// Returns the index of the first element of the part of `rank` in a bucket of
// `count` elements.
int64_t ShardBegin(int64_t count, int rank, int ranks,
                   ShardForm form = ShardForm::kEven);

// A range of a parameter that belongs to this rank's part of a bucket, and its
// position in the bucket.
struct ShardPiece {
  ParameterRange range;
  int bucket = 0;
  // The position in the bucket of the range's first element, in elements.
  int64_t offset = 0;
};

// Divides each of `buckets` among the ranks, and returns the ranges of
// parameters in the parts of rank `rank`, in the order of the buckets. Empty
// ranges are left out.
std::vector<ShardPiece> PiecesOf(const std::vector<GradientBucket>& buckets,
                                 int rank, int ranks);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_ZERO_SHARD_PARTITION_H_
