#ifndef MUSTER_MODELS_GPT_CUDA_CONTIGUOUS_BUCKETS_H_
#define MUSTER_MODELS_GPT_CUDA_CONTIGUOUS_BUCKETS_H_

#include <cstdint>
#include <vector>

namespace muster::cuda {

// Tensors [first, last) of an array, reduced by one operation.
struct ContiguousBucket {
  int first = 0;
  int last = 0;
  // In elements of the array.
  int64_t begin = 0;
  int64_t end = 0;
};

// Divides an array of tensors, the i-th of which begins at offsets[i], into
// buckets from the end of the array, because the backward pass produces
// gradients roughly in reverse order. The first bucket is full with
// `first_count` elements, later ones with `count`, as in PyTorch's DDP. Pure.
std::vector<ContiguousBucket> BucketsFromTheEnd(
    const std::vector<int64_t>& offsets, int64_t total, int64_t first_count,
    int64_t count);

// Tracks which buckets are full. Buckets become full strictly in index order,
// whatever the order of the tensors, so that every rank reduces them in the
// same order.
class BucketTracker {
 public:
  explicit BucketTracker(std::vector<ContiguousBucket> buckets);

  void Begin();
  // Marks a tensor, once per pass. Returns how many more buckets are full now;
  // all buckets before them are full too.
  int MarkReady(int tensor);

  const std::vector<ContiguousBucket>& buckets() const { return buckets_; }
  // The number of full buckets in this pass.
  int full() const { return full_; }

 private:
  const std::vector<ContiguousBucket> buckets_;
  std::vector<int> bucket_of_;
  // By bucket: the number of tensors still to come.
  std::vector<int> missing_;
  std::vector<char> ready_;
  int full_ = 0;
};

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_CONTIGUOUS_BUCKETS_H_
