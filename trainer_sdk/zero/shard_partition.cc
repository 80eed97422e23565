#include "trainer_sdk/zero/shard_partition.h"

#include <algorithm>

namespace muster {

namespace {

constexpr int64_t kAlignment = 64;

}  // namespace

ShardForm ShardFormOf(const Device* device) {
  return device == nullptr || device->is_host() ? ShardForm::kEven
                                                : ShardForm::kAligned;
}

std::vector<int64_t> ShardCounts(int64_t count, int ranks, ShardForm form) {
  std::vector<int64_t> counts;
  for (int rank = 0; rank < ranks; ++rank) {
    counts.push_back(ShardBegin(count, rank + 1, ranks, form) -
                     ShardBegin(count, rank, ranks, form));
  }
  return counts;
}

int64_t ShardBegin(int64_t count, int rank, int ranks, ShardForm form) {
  if (form == ShardForm::kAligned) {
    return rank == ranks ? count
                         : count / ranks / kAlignment * kAlignment * rank;
  }
  // If `count` is not a multiple of `ranks`, the first ranks have one element
  // more than the others.
  return count / ranks * rank + std::min<int64_t>(rank, count % ranks);
}

std::vector<ShardPiece> PiecesOf(const std::vector<GradientBucket>& buckets,
                                 int rank, int ranks) {
  std::vector<ShardPiece> pieces;
  for (const GradientBucket& bucket : buckets) {
    const ShardForm form = ShardFormOf(bucket.device);
    const int64_t begin = ShardBegin(bucket.count, rank, ranks, form);
    const int64_t end = ShardBegin(bucket.count, rank + 1, ranks, form);
    for (const GradientBucket::Part& part : bucket.parts) {
      const int64_t first = std::max(begin, part.offset);
      const int64_t last = std::min(end, part.offset + part.count);
      if (first >= last) continue;
      pieces.push_back(
          {{part.parameter, first - part.offset, last - part.offset},
           bucket.index,
           first});
    }
  }
  return pieces;
}

}  // namespace muster
