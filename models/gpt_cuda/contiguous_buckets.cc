#include "models/gpt_cuda/contiguous_buckets.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/check.h"

namespace muster::cuda {

std::vector<ContiguousBucket> BucketsFromTheEnd(
    const std::vector<int64_t>& offsets, int64_t total, int64_t first_count,
    int64_t count) {
  std::vector<ContiguousBucket> buckets;
  int last = static_cast<int>(offsets.size());
  int64_t end = total;
  for (int first = last - 1; first >= 0; --first) {
    const int64_t begin = offsets[static_cast<size_t>(first)];
    const int64_t full = buckets.empty() ? first_count : count;
    if (end - begin < full && first > 0) continue;
    buckets.push_back({first, last, begin, end});
    last = first;
    end = begin;
  }
  return buckets;
}

BucketTracker::BucketTracker(std::vector<ContiguousBucket> buckets)
    : buckets_(std::move(buckets)) {
  if (!buckets_.empty()) {
    bucket_of_.resize(static_cast<size_t>(buckets_.front().last));
  }
  for (size_t i = 0; i < buckets_.size(); ++i) {
    std::fill(bucket_of_.begin() + buckets_[i].first,
              bucket_of_.begin() + buckets_[i].last, static_cast<int>(i));
  }
  Begin();
}

void BucketTracker::Begin() {
  missing_.clear();
  for (const ContiguousBucket& bucket : buckets_) {
    missing_.push_back(bucket.last - bucket.first);
  }
  ready_.assign(bucket_of_.size(), 0);
  full_ = 0;
}

int BucketTracker::MarkReady(int tensor) {
  const auto at = static_cast<size_t>(tensor);
  MUSTER_CHECK(tensor >= 0 && at < ready_.size() && ready_[at] == 0)
      << "tensor " << tensor << " of " << ready_.size()
      << " is ready a second time, or is none";
  ready_[at] = 1;
  --missing_[static_cast<size_t>(bucket_of_[at])];
  const int before = full_;
  while (full_ < static_cast<int>(missing_.size()) &&
         missing_[static_cast<size_t>(full_)] == 0) {
    ++full_;
  }
  return full_ - before;
}

}  // namespace muster::cuda
