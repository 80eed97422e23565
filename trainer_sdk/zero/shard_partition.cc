#include "trainer_sdk/zero/shard_partition.h"

#include <algorithm>

namespace muster {

std::vector<int64_t> ShardCounts(int64_t count, int ranks) {
  std::vector<int64_t> counts;
  for (int rank = 0; rank < ranks; ++rank) {
    counts.push_back(ShardBegin(count, rank + 1, ranks) -
                     ShardBegin(count, rank, ranks));
  }
  return counts;
}

int64_t ShardBegin(int64_t count, int rank, int ranks) {
  // The first ranks have one element more if `count` is not a multiple of
  // `ranks`.
  return count / ranks * rank + std::min<int64_t>(rank, count % ranks);
}

std::vector<ShardPiece> PiecesOf(const std::vector<GradientBucket>& buckets,
                                 int rank, int ranks) {
  std::vector<ShardPiece> pieces;
  for (const GradientBucket& bucket : buckets) {
    const int64_t begin = ShardBegin(bucket.count, rank, ranks);
    const int64_t end = ShardBegin(bucket.count, rank + 1, ranks);
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
