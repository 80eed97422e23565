#ifndef MUSTER_MODELS_GPT_CUDA_CONTIGUOUS_BUCKETS_H_
#define MUSTER_MODELS_GPT_CUDA_CONTIGUOUS_BUCKETS_H_

#include <cstdint>
#include <vector>

namespace muster::cuda {

// Tensors [first, last) of an array, which are reduced as one.
struct ContiguousBucket {
  int first = 0;
  int last = 0;
  // In elements of the array.
  int64_t begin = 0;
  int64_t end = 0;
};

// Cuts an array of tensors, of which the i-th begins at offsets[i], into
// buckets from its end on: the backward pass makes gradients in about the
// reverse order. A bucket is full with `first_count` elements, those after the
// first with `count`, as in PyTorch's DDP. Pure.
std::vector<ContiguousBucket> BucketsFromTheEnd(
    const std::vector<int64_t>& offsets, int64_t total, int64_t first_count,
    int64_t count);

// Which buckets are full, by what is ready: always in their order, however
// tensors come, so that every rank reduces them in the same.
class BucketTracker {
 public:
  explicit BucketTracker(std::vector<ContiguousBucket> buckets);

  void Begin();
  // How many more buckets are full now; all before them are full too. Each
  // tensor once a pass.
  int MarkReady(int tensor);

  const std::vector<ContiguousBucket>& buckets() const { return buckets_; }
  // Of this pass.
  int full() const { return full_; }

 private:
  const std::vector<ContiguousBucket> buckets_;
  std::vector<int> bucket_of_;
  // By bucket: tensors that are still to come.
  std::vector<int> missing_;
  std::vector<char> ready_;
  int full_ = 0;
};

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_CONTIGUOUS_BUCKETS_H_
