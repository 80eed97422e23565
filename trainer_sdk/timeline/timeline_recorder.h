#ifndef MUSTER_TRAINER_SDK_TIMELINE_TIMELINE_RECORDER_H_
#define MUSTER_TRAINER_SDK_TIMELINE_TIMELINE_RECORDER_H_

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "base/time.h"
#include "trainer_sdk/ddp/reducer_observer.h"
#include "trainer_sdk/timeline/timeline_span.h"

namespace muster {

// Keeps what a rank did in the last steps of its training, by the monotonic
// clock: the training tells its passes, its reducer the buckets. Who records
// nothing has none (RecordedSpan takes null), and pays one comparison a span.
//
// Of a step at most kMostPasses passes and parts of them are kept, the first
// ones; buckets and waits are as many as the model has. Thread-safe; spans
// belong to the step that began last.
class TimelineRecorder : public ReducerObserver {
 public:
  static constexpr int64_t kMostPasses = 2000;

  // Keeps the last `steps`, at least one.
  explicit TimelineRecorder(int64_t steps);

  void BeginStep(int64_t step);
  void Add(SpanKind kind, int64_t number, Instant begin, Instant end);
  void OnReduced(const BucketReduction& reduction) override;
  void OnWaited(Instant begin, Instant end) override;

  // In the order in which they ended.
  std::vector<TimelineSpan> spans() const;

 private:
  struct Step {
    int64_t step = 0;
    std::vector<TimelineSpan> spans;
    int64_t passes = 0;
    int64_t left_out = 0;
  };

  const size_t most_steps_;
  mutable std::mutex mutex_;
  std::deque<Step> steps_;
};

// Records from its making to its end; null records nothing.
class RecordedSpan {
 public:
  RecordedSpan(TimelineRecorder* recorder, SpanKind kind, int64_t number = 0);
  ~RecordedSpan();
  RecordedSpan(const RecordedSpan&) = delete;
  RecordedSpan& operator=(const RecordedSpan&) = delete;

 private:
  TimelineRecorder* const recorder_;
  const SpanKind kind_;
  const int64_t number_;
  Instant begin_;
};

// The parts of one backward pass, told by what they have done: a part ends with
// the last gradient that it makes, and there the next one begins. Null records
// nothing.
class RecordedParts {
 public:
  // The pass begins.
  explicit RecordedParts(TimelineRecorder* recorder);
  // The pass is over.
  ~RecordedParts();
  RecordedParts(const RecordedParts&) = delete;
  RecordedParts& operator=(const RecordedParts&) = delete;

  // A gradient of that part is there.
  void Made(int64_t part);

 private:
  TimelineRecorder* const recorder_;
  int64_t part_ = -1;
  Instant begin_;
  Instant end_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TIMELINE_TIMELINE_RECORDER_H_
