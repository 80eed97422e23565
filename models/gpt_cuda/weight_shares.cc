#include "models/gpt_cuda/weight_shares.h"

#include <algorithm>
#include <cstddef>

namespace muster::cuda {

namespace {

constexpr int64_t kPartStep = 64;

}  // namespace

BucketShares SharesOf(const ContiguousBucket& bucket, int ranks) {
  const int64_t count = bucket.end - bucket.begin;
  const int64_t part = count / ranks / kPartStep * kPartStep;
  return {.part = part, .rest = {bucket.begin + part * ranks, bucket.end}};
}

ElementRange ShareOf(const ContiguousBucket& bucket, int rank, int ranks) {
  const BucketShares shares = SharesOf(bucket, ranks);
  const int64_t begin = bucket.begin + shares.part * rank;
  return {begin, rank + 1 == ranks ? bucket.end : begin + shares.part};
}

std::vector<TensorPiece> PiecesIn(const std::vector<ElementRange>& ranges,
                                  const std::vector<int64_t>& offsets,
                                  const std::vector<int64_t>& counts) {
  std::vector<TensorPiece> pieces;
  for (const ElementRange& range : ranges) {
    // The last tensor that begins at or before the range's begin.
    const auto behind =
        std::upper_bound(offsets.begin(), offsets.end(), range.begin);
    auto i = static_cast<size_t>(std::max<int64_t>(
        0, static_cast<int64_t>(behind - offsets.begin()) - 1));
    for (; i < offsets.size() && offsets[i] < range.end; ++i) {
      const int64_t begin = std::max<int64_t>(0, range.begin - offsets[i]);
      const int64_t end = std::min(counts[i], range.end - offsets[i]);
      if (begin < end) pieces.push_back({static_cast<int>(i), {begin, end}});
    }
  }
  return pieces;
}

}  // namespace muster::cuda
