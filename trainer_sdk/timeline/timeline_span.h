#ifndef MUSTER_TRAINER_SDK_TIMELINE_TIMELINE_SPAN_H_
#define MUSTER_TRAINER_SDK_TIMELINE_TIMELINE_SPAN_H_

#include <cstdint>
#include <type_traits>

namespace muster {

// What a rank does in a step of a training. All but kReduce happen where it
// computes: on its thread, or its GPU's main stream.
enum class SpanKind : int64_t {
  kStep,
  // A micro-batch's passes.
  kForward,
  kBackward,
  // Of a backward pass: what one part of the model takes.
  kPart,
  // A bucket of gradients, where the rank communicates.
  kReduce,
  // The backward pass is over, and gradients are not averaged yet.
  kWait,
  // Clipping and the optimizer.
  kUpdate,
};

// When that was, in nanoseconds of whatever clock a timeline has. Integers
// alone, so that ranks send them to each other as they are.
struct TimelineSpan {
  SpanKind kind = SpanKind::kStep;
  // Counted from 0.
  int64_t step = 0;
  // The micro-batch of a pass, the part of the model, the bucket (-1: which
  // parameters were used); of kStep: the spans that were left out.
  int64_t number = 0;
  int64_t begin = 0;
  int64_t end = 0;
  // Of kReduce: when the bucket was full, and how much is in it.
  int64_t asked = 0;
  int64_t bytes = 0;

  bool operator==(const TimelineSpan&) const = default;
};

constexpr int64_t kTimelineSpanWords = sizeof(TimelineSpan) / sizeof(int64_t);
static_assert(std::is_trivially_copyable_v<TimelineSpan> &&
              sizeof(TimelineSpan) % sizeof(int64_t) == 0);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TIMELINE_TIMELINE_SPAN_H_
