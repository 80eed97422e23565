#ifndef MUSTER_MODELS_GPT_CUDA_CUDA_STEP_TIMELINE_H_
#define MUSTER_MODELS_GPT_CUDA_CUDA_STEP_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "models/cuda/device.h"
#include "trainer_sdk/ddp/reducer_observer.h"
#include "trainer_sdk/timeline/timeline_span.h"

namespace muster::models::cuda {

// Records the timeline of a step on a GPU by time stamps (Device::Mark) on the
// GPU's two streams: the counterpart of TimelineRecorder for asynchronous work.
//
//   timeline.BeginStep(step);
//   timeline.Begin(SpanKind::kForward); ...; timeline.End();
//   spans = timeline.EndStep();
//
// As the observer of a Reducer on the same device, it also records the
// reduction of each bucket and the wait for all reductions.
//
// Not thread-safe.
class CudaStepTimeline final : public ReducerObserver {
 public:
  // `device` must outlive this object. During a step, the device's time stamps
  // (Device::Mark) must not be used for anything else.
  explicit CudaStepTimeline(Device& device) : device_(device) {}

  // Begins a step. Blocks until the device has finished its work, so that both
  // streams are empty when the step begins.
  void BeginStep(int64_t step);
  // Record a span: the main stream's work that is enqueued between Begin and
  // End. Spans may be nested.
  void Begin(SpanKind kind, int64_t number = 0);
  void End();
  // Must be called in a backward pass when the work on a gradient of the
  // model's part `part` is enqueued. The span of a part ends with the part's
  // last gradient, and the span of the next part begins there.
  void MadeGradientOf(int64_t part);

  void OnDevicePoint(DevicePoint point, int bucket, int64_t bytes) override;
  void OnReduced(const BucketReduction&) override {}
  void OnWaited(Instant, Instant) override {}

  // Blocks until the GPU has reached the step's time stamps, and returns the
  // step's spans with times of the host's monotonic clock. The step's start
  // time is exact to a few microseconds.
  std::vector<TimelineSpan> EndStep();

 private:
  // The spans of the current step so far. Before EndStep, the fields `begin`,
  // `end` and `asked` (see TimelineSpan) are not times but indices of time
  // stamps, as Device::Mark returns them.
  std::vector<TimelineSpan> spans_;
  // Indices in spans_ of the spans that have not ended.
  std::vector<size_t> open_;
  int64_t step_ = 0;
  // The index of the model's part (GptPartNames) whose gradients are being
  // computed; -1: the current backward pass has not completed a gradient yet.
  int64_t part_ = -1;
  int part_begin_ = 0;
  int part_end_ = 0;
  // The span of the bucket reduction whose work is being enqueued now.
  TimelineSpan reduction_;
  Device& device_;
  Instant begin_;
};

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_CUDA_STEP_TIMELINE_H_
