#ifndef MUSTER_TRAINER_SDK_DDP_COMPRESS_HOOK_H_
#define MUSTER_TRAINER_SDK_DDP_COMPRESS_HOOK_H_

#include <cstdint>
#include <memory>

#include "trainer_sdk/ddp/comm_hook.h"

namespace muster {

// Sends float32 gradients as 16-bit floats, which halves the bytes. Each
// gradient is rounded once before it is sent and once when it comes back
// (PyTorch's bf16_compress_hook and fp16_compress_hook). Gradients of other
// types are averaged unchanged.
class CompressHook : public CommHook {
 public:
  // `type`: bfloat16, or float16, where gradients beyond its range become
  // infinite.
  explicit CompressHook(DType type);

  absl::Status Reduce(GradientBucket& bucket, ProcessGroup& group) override;
  bool takes_device_memory() const override { return true; }

 private:
  const DType type_;
  // Room for the longest bucket so far, on the device of the buckets.
  std::shared_ptr<void> narrow_;
  int64_t room_ = 0;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_COMPRESS_HOOK_H_
