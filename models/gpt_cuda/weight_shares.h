#ifndef MUSTER_MODELS_GPT_CUDA_WEIGHT_SHARES_H_
#define MUSTER_MODELS_GPT_CUDA_WEIGHT_SHARES_H_

#include <cstdint>
#include <vector>

#include "models/gpt_cuda/contiguous_buckets.h"

namespace muster::cuda {

// The distribution of an array of tensors over ranks that share the optimizer's
// state (ZeRO-1). Pure.

// Elements [begin, end) of an array, or of a tensor.
struct ElementRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t count() const { return end - begin; }
  bool operator==(const ElementRange&) const = default;
};

// The division of a bucket: parts of equal length in rank order, for which NCCL
// has its fastest operations. The remainder, less than 64 elements per rank,
// also belongs to the last rank.
struct BucketShares {
  // Elements of a rank's part: a multiple of 64, so that each part is well
  // aligned.
  int64_t part = 0;
  // The remainder; may be empty.
  ElementRange rest;
};
BucketShares SharesOf(const ContiguousBucket& bucket, int ranks);

// All of `rank`'s elements of a bucket; may be empty.
ElementRange ShareOf(const ContiguousBucket& bucket, int rank, int ranks);

// A piece of a tensor.
struct TensorPiece {
  int tensor = 0;
  // Range of the tensor's elements.
  ElementRange range;
};

// The pieces of the tensors that are in `ranges`, in their order. The i-th
// tensor has counts[i] elements from offsets[i]; there may be gaps between
// tensors.
std::vector<TensorPiece> PiecesIn(const std::vector<ElementRange>& ranges,
                                  const std::vector<int64_t>& offsets,
                                  const std::vector<int64_t>& counts);

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_WEIGHT_SHARES_H_
