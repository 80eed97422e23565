#include "trainer_sdk/ddp/compress_hook.h"

#include <cstddef>

#include "base/check.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/reduce/reduce.h"

namespace muster {

CompressHook::CompressHook(DType type) : type_(type) {
  MUSTER_CHECK(type == DType::kBFloat16 || type == DType::kFloat16)
      << Name(type) << " does not compress";
}

absl::Status CompressHook::Reduce(GradientBucket& bucket, ProcessGroup& group) {
  if (bucket.dtype != DType::kFloat32) {
    return AllReduceHook().Reduce(bucket, group);
  }
  narrow_.resize(static_cast<size_t>(bucket.count));
  float* const data = static_cast<float*>(bucket.data);
  Narrow(data, type_, narrow_.data(), bucket.count);
  absl::Status status = group.Run(AllReduce(
      narrow_.data(), narrow_.data(), bucket.count, type_, ReduceOp::kAvg));
  if (status.ok()) Widen(type_, narrow_.data(), data, bucket.count);
  return status;
}

}  // namespace muster
