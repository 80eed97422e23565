#ifndef MUSTER_TRAINER_SDK_TIMELINE_TIMELINE_SPAN_H_
#define MUSTER_TRAINER_SDK_TIMELINE_TIMELINE_SPAN_H_

#include <cstdint>
#include <type_traits>

namespace muster {

// The kinds of activities of a rank in a training step. All but kReduce take
// place on the rank's computing thread or its GPU's main stream.
enum class SpanKind : int64_t {
  kStep,
  // A forward pass (kForward) or a backward pass (kBackward) of one
  // micro-batch.
  kForward,
  kBackward,
  // The computation of one part of the model, such as a layer, in a backward
  // pass.
  kPart,
  // The reduction of a bucket of gradients, on the communication thread or
  // stream.
  kReduce,
  // The time after the backward pass in which the rank waits for averaged
  // gradients.
  kWait,
  // Gradient clipping and the optimizer's step.
  kUpdate,
};

// An activity of a rank and its time, in nanoseconds of the timeline's clock.
// The struct consists of integers only, so that ranks can send it as bytes.
struct TimelineSpan {
  SpanKind kind = SpanKind::kStep;
  // Number of the step, from 0.
  int64_t step = 0;
  // For a pass, a part or a bucket: the index of the micro-batch, of the
  // model's part or of the bucket. In spans of kind kReduce, -1 means the
  // exchange in which ranks agree on which parameters were used. For kStep: the
  // number of spans of the step that were dropped.
  int64_t number = 0;
  int64_t begin = 0;
  int64_t end = 0;
  // For kReduce: the time at which the bucket became full, so that its
  // reduction was requested.
  int64_t asked = 0;
  int64_t bytes = 0;  // for kReduce: the size of the bucket in bytes

  bool operator==(const TimelineSpan&) const = default;
};

constexpr int64_t kTimelineSpanWords = sizeof(TimelineSpan) / sizeof(int64_t);
static_assert(std::is_trivially_copyable_v<TimelineSpan> &&
              sizeof(TimelineSpan) % sizeof(int64_t) == 0);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TIMELINE_TIMELINE_SPAN_H_
