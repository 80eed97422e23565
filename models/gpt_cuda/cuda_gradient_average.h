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

// Averages gradients that lie in device memory over all ranks of a group while
// the backward pass makes them: a full bucket goes to the side stream as one
// all_reduce, or as a reduce_scatter where ranks share the optimizer's state,
// behind what has made it, and beside what follows. What Reducer is
// for gradients in the host's memory, without its options: it zeroes, copies
// and compares parameters there, and knows no streams.
//
//   average.Begin();
//   stage->Backward(..., [&](int tensor) { average.MarkReady(tensor); });
//   status = average.Finish();   // what follows on stream() sees averages
//   device.Wait();
//   status = average.Confirm();  // they are
//
// One thread at a time.
class CudaGradientAverage {
 public:
  struct Limits {
    // In bytes; PyTorch's.
    int64_t first = int64_t{1} << 20;
    int64_t others = int64_t{25} << 20;
  };

  // Which averages a rank has at the end: all, or those of its own share, which
  // takes half the time; of the rest it has anything then.
  enum class Averages { kAll, kOwnShare };

  // gradients[total] has a tensor at each of `offsets`, ascending from 0; the
  // same on every rank. All must outlive it; the group is its own from Begin
  // to Finish, and its operations take device memory and streams: NCCL's.
  CudaGradientAverage(Device& device, ProcessGroup& group, float* gradients,
                      const std::vector<int64_t>& offsets, int64_t total,
                      const Limits& limits, Averages averages = Averages::kAll);

  // Buckets and the wait for them are noted there from now on; it must outlive
  // the last Finish. Null: no longer.
  void NoteIn(CudaStepTimeline* timeline) { timeline_ = timeline; }

  // A backward pass whose gradients are to be averaged; without it they add up
  // on each rank alone.
  void Begin();
  // All that adds to the tensor's gradient in this pass is on the stream.
  void MarkReady(int tensor);
  // The first error of a bucket's reduction; FailedPrecondition: not all
  // tensors were ready.
  absl::Status Finish();
  // Once the device has done all that, and before it is made use of: whether
  // the group is whole. One that breaks with operations on a stream ends them,
  // and the stream runs on over gradients that are anything. Every rank calls
  // it.
  absl::Status Confirm();

  const std::vector<ContiguousBucket>& buckets() const {
    return tracker_.buckets();
  }
  // What of the array is averaged on this rank; none is empty.
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
