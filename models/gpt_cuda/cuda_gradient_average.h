#ifndef MUSTER_MODELS_GPT_CUDA_CUDA_GRADIENT_AVERAGE_H_
#define MUSTER_MODELS_GPT_CUDA_CUDA_GRADIENT_AVERAGE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "models/cuda/device.h"
#include "models/gpt_cuda/contiguous_buckets.h"
#include "models/gpt_cuda/cuda_step_timeline.h"
#include "models/gpt_cuda/weight_shares.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster::cuda {

// Averages gradients in device memory over all ranks of a group during the
// backward pass. A full bucket is enqueued on the side stream, after the work
// that produced it and concurrently with later work, as one all_reduce, or as a
// reduce_scatter if ranks share the optimizer's state. It is the counterpart of
// Reducer, which is for host memory: Reducer zeroes, copies and compares
// parameters on the host and has no streams.
//
//   average.Begin();
//   stage->Backward(..., [&](int tensor) { average.MarkReady(tensor); });
//   status = average.Finish();   // what follows on stream() sees averages
//   device.Wait();
//   status = average.Confirm();  // they are
//
// Not thread-safe.
class CudaGradientAverage {
 public:
  struct Limits {
    // In bytes. The defaults are PyTorch's.
    int64_t first = int64_t{1} << 20;
    int64_t others = int64_t{25} << 20;
  };

  // The averages that a rank gets: all, or only those of its own share, in half
  // the time; then the rest of the array is undefined.
  enum class Averages { kAll, kOwnShare };

  // gradients[total] has a tensor at each of `offsets`, ascending from 0 and
  // equal on every rank. All arguments must outlive it. The group must not be
  // used otherwise from Begin to Finish, and its operations must take device
  // memory and streams, as NCCL's do.
  CudaGradientAverage(Device& device, ProcessGroup& group, float* gradients,
                      const std::vector<int64_t>& offsets, int64_t total,
                      const Limits& limits, Averages averages = Averages::kAll);

  // Records buckets and waits in `timeline` from now on; it must outlive the
  // last Finish. Null: stops recording.
  void NoteIn(CudaStepTimeline* timeline) { timeline_ = timeline; }

  // Begins a backward pass whose gradients are averaged; without it gradients
  // accumulate on each rank.
  void Begin();
  // All work that adds to the tensor's gradient in this pass is enqueued.
  void MarkReady(int tensor);
  // Returns the first error of a bucket's reduction. FailedPrecondition: not
  // all tensors were marked.
  absl::Status Finish();
  // Call it on every rank once the device has done all that work, and before
  // the averages are used: returns whether the group is intact. A group that
  // breaks during an operation on a stream ends the operation, and the stream
  // continues with undefined gradients.
  absl::Status Confirm();

  const std::vector<ContiguousBucket>& buckets() const {
    return tracker_.buckets();
  }
  // The ranges of the array that are averaged on this rank; none is empty.
  std::vector<ElementRange> averaged() const;

 private:
  void Reduce(int index);
  absl::Status Start(const ContiguousBucket& bucket);
  absl::Status Run(Operation operation);

  Device& device_;
  ProcessGroup& group_;
  float* const gradients_;
  const Averages averages_;
  BucketTracker tracker_;
  absl::Status status_;
  CudaStepTimeline* timeline_ = nullptr;
};

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_CUDA_GRADIENT_AVERAGE_H_
