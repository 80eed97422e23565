#ifndef MUSTER_MODELS_GPT_CUDA_CUDA_STEP_TIMELINE_H_
#define MUSTER_MODELS_GPT_CUDA_CUDA_STEP_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "models/cuda/device.h"
#include "trainer_sdk/ddp/reducer_observer.h"
#include "trainer_sdk/timeline/timeline_span.h"

namespace muster::models::cuda {

// Records the activities of a GPU in a step by marks on its two streams: the
// counterpart of TimelineRecorder for asynchronous work.
//
//   timeline.BeginStep(step);
//   timeline.Begin(SpanKind::kForward); ...; timeline.End();
//   spans = timeline.EndStep();
//
// As the observer of a Reducer on the same device, it records the buckets and
// the wait for them.
//
// Not thread-safe.
class CudaStepTimeline final : public ReducerObserver {
 public:
  // `device` must outlive this object and must have no other marks during a
  // step.
  explicit CudaStepTimeline(Device& device) : device_(device) {}

  // Begins a step. Blocks until the device's work is done, so that the step
  // begins with empty streams.
  void BeginStep(int64_t step);
  // A span of the main stream's work between Begin and End; spans may be
  // nested.
  void Begin(SpanKind kind, int64_t number = 0);
  void End();
  // Reports within a backward pass that a gradient of part `part` of the model
  // is enqueued. A part ends with its last gradient; then the next part begins.
  void MadeGradientOf(int64_t part);

  void OnDevicePoint(DevicePoint point, int bucket, int64_t bytes) override;
  void OnReduced(const BucketReduction&) override {}
  void OnWaited(Instant, Instant) override {}

  // Waits for the marks and returns the step's spans, by the host's monotonic
  // clock. The start of the step is exact to a few microseconds.
  std::vector<TimelineSpan> EndStep();

 private:
  // Spans whose times are indices of marks.
  std::vector<TimelineSpan> spans_;
  // Indices of the spans that have not ended.
  std::vector<size_t> open_;
  int64_t step_ = 0;
  // The current part; -1: no part has begun in this pass.
  int64_t part_ = -1;
  int part_begin_ = 0;
  int part_end_ = 0;
  // The reduction that is being enqueued.
  TimelineSpan reduction_;
  Device& device_;
  Instant begin_;
};

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_CUDA_STEP_TIMELINE_H_
