#include "trainer_sdk/ddp/comm_hook.h"

#include <utility>

#include "base/check.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {

absl::Status AllReduceHook::Reduce(GradientBucket& bucket,
                                   ProcessGroup& group) {
  return bucket.Run(AllReduce(bucket.data, bucket.data, bucket.count,
                              bucket.dtype, ReduceOp::kAvg),
                    group);
}

CompressHook::CompressHook(DType type) : type_(type) {
  MUSTER_CHECK(type == DType::kBFloat16 || type == DType::kFloat16)
      << Name(type) << " does not compress";
}

absl::Status CompressHook::Reduce(GradientBucket& bucket, ProcessGroup& group) {
  if (bucket.dtype != DType::kFloat32) {
    return AllReduceHook().Reduce(bucket, group);
  }
  constexpr auto kStream = Device::Stream::kCommunication;
  Device& device = bucket.on();
  if (room_ < bucket.count) {
    // The buffer is too small for this bucket and is about to be replaced. The
    // device may still use it for an earlier bucket, so wait for the work on
    // both streams before the buffer is freed.
    device.WaitForOther(Device::Stream::kCompute);
    device.Wait();
    auto memory = device.Allocate(bucket.count * SizeOf(type_));
    if (!memory.ok()) return memory.status();
    narrow_ = *std::move(memory);
    room_ = bucket.count;
  }
  const TensorData wide(bucket.data, bucket.count, bucket.dtype);
  const TensorData narrow(narrow_.get(), bucket.count, type_);
  device.Convert(kStream, wide, narrow, type_);
  absl::Status status = bucket.Run(
      AllReduce(narrow.data, narrow.data, bucket.count, type_, ReduceOp::kAvg),
      group);
  if (status.ok()) device.Convert(kStream, narrow, wide, DType::kFloat32);
  return status;
}

}  // namespace muster
