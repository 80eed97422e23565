#ifndef MUSTER_MODELS_GPT_CUDA_CUDA_STEP_TIMELINE_H_
#define MUSTER_MODELS_GPT_CUDA_CUDA_STEP_TIMELINE_H_

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "models/cuda/device.h"
#include "trainer_sdk/timeline/timeline_span.h"

namespace muster::cuda {

// What a GPU does in a step, by notes on its two streams: TimelineRecorder for
// work that is done later than it is asked for.
//
//   timeline.BeginStep(step);
//   timeline.Begin(SpanKind::kForward); ...; timeline.End();
//   spans = timeline.EndStep();
//
// One thread at a time.
class CudaStepTimeline {
 public:
  // The device must outlive it, and has no other notes while a step lasts.
  explicit CudaStepTimeline(Device& device) : device_(device) {}

  // Waits for the device: the step begins with both streams empty.
  void BeginStep(int64_t step);
  // Of what is on the main stream in between; spans nest.
  void Begin(SpanKind kind, int64_t number = 0);
  void End();
  // Within a backward pass: a gradient of that part of the model is made. A
  // part ends with its last one, and there the next begins.
  void MadeGradientOf(int64_t part);

  // Numbers of the device's notes.
  struct Reduction {
    int64_t bucket = 0;
    int64_t bytes = 0;
    int asked = 0;
    int began = 0;
    int ended = 0;
  };
  void Add(const Reduction& reduction);

  // Waits for what is noted. The step's spans, on the host's monotonic clock as
  // far as the begin of the step can be told by it: some microseconds.
  std::vector<TimelineSpan> EndStep();

 private:
  // With notes for times.
  std::vector<TimelineSpan> spans_;
  // Indices of those that have no end yet.
  std::vector<size_t> open_;
  int64_t step_ = 0;
  // Of the part that was told last; -1: none in this pass.
  int64_t part_ = -1;
  int part_begin_ = 0;
  int part_end_ = 0;
  Device& device_;
  Instant begin_;
};

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_GPT_CUDA_CUDA_STEP_TIMELINE_H_
