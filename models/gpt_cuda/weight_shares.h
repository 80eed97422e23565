#ifndef MUSTER_MODELS_GPT_CUDA_WEIGHT_SHARES_H_
#define MUSTER_MODELS_GPT_CUDA_WEIGHT_SHARES_H_

#include <cstdint>
#include <vector>

#include "models/gpt_cuda/contiguous_buckets.h"

namespace muster::cuda {

// Whose which elements of an array of tensors are, where ranks share the
// optimizer's state (ZeRO-1). Pure, all of it.

// Elements [begin, end) of an array, or of a tensor.
struct ElementRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t count() const { return end - begin; }
  bool operator==(const ElementRange&) const = default;
};

// A bucket is shared in parts of equal length, in the order of the ranks, for
// which NCCL has its fastest calls. What they leave, fewer than 64 elements a
// rank, is the last rank's, too.
struct BucketShares {
  // Elements of a rank's part: a multiple of 64, so that each begins where
  // memory is read fastest.
  int64_t part = 0;
  // May be empty.
  ElementRange rest;
};
BucketShares SharesOf(const ContiguousBucket& bucket, int ranks);

// All that is `rank`'s of a bucket; may be empty.
ElementRange ShareOf(const ContiguousBucket& bucket, int rank, int ranks);

// A piece of a tensor.
struct TensorPiece {
  int tensor = 0;
  // Of the tensor's elements.
  ElementRange range;
};

// What of the tensors is in `ranges`, in their order. The i-th tensor has
// counts[i] elements from offsets[i] on; between tensors are gaps.
std::vector<TensorPiece> PiecesIn(const std::vector<ElementRange>& ranges,
                                  const std::vector<int64_t>& offsets,
                                  const std::vector<int64_t>& counts);

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_WEIGHT_SHARES_H_
