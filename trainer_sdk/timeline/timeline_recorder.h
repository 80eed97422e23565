#ifndef MUSTER_TRAINER_SDK_TIMELINE_TIMELINE_RECORDER_H_
#define MUSTER_TRAINER_SDK_TIMELINE_TIMELINE_RECORDER_H_

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time.h"
#include "trainer_sdk/ddp/reducer_observer.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/timeline/timeline_span.h"

namespace muster {

// Records the activities of a rank in the last steps of its training, with
// times of the monotonic clock. The training program reports its forward and
// backward passes, and its reducer reports the buckets. To record nothing, a
// program uses a null recorder (see RecordedSpan), which costs one comparison
// per span.
//
// For each step, keeps at most kMaxPasses spans of passes and their parts, and
// drops later ones; spans for buckets and waits are not limited. A span belongs
// to the step that began last. Thread-safe.
class TimelineRecorder : public ReducerObserver {
 public:
  static constexpr int64_t kMaxPasses = 2000;

  // `steps`: the number of latest steps to keep, at least 1.
  explicit TimelineRecorder(int64_t steps);

  void BeginStep(int64_t step);
  void Add(SpanKind kind, int64_t number, Instant begin, Instant end);
  void OnReduced(const BucketReduction& reduction) override;
  void OnWaited(Instant begin, Instant end) override;

  // Returns the recorded spans, in the order in which they ended.
  std::vector<TimelineSpan> spans() const;

 private:
  struct Step {
    int64_t step = 0;
    std::vector<TimelineSpan> spans;
    int64_t passes = 0;
    int64_t left_out = 0;
  };

  const size_t max_steps_;
  mutable std::mutex mutex_;
  std::deque<Step> steps_;
};

// Records a span that lasts from the construction to the destruction of this
// object. Records nothing if the recorder is null.
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

// Records the parts (such as layers) of one backward pass. When the last
// gradient of a part is complete, the part ends and the next part begins.
// Records nothing if the recorder is null.
class RecordedParts {
 public:
  // The backward pass and its first part begin now.
  explicit RecordedParts(TimelineRecorder* recorder);
  // Records the last part of the backward pass, which ended when the part's
  // last gradient was complete.
  ~RecordedParts();
  RecordedParts(const RecordedParts&) = delete;
  RecordedParts& operator=(const RecordedParts&) = delete;

  // Records that the backward pass has computed a gradient of the model's part
  // number `part`, such as a layer.
  void Made(int64_t part);

 private:
  TimelineRecorder* const recorder_;
  int64_t part_ = -1;
  Instant begin_;
  Instant end_;
};

// Gathers every rank's spans on rank 0, indexed by rank, with times converted
// to rank 0's clock. Returns an empty list on other ranks. The conversion is as
// exact as ClockLead, which measures the difference between the clocks.
// Collective and blocking.
absl::StatusOr<std::vector<std::vector<TimelineSpan>>> GatherTimeline(
    ProcessGroup& group, std::vector<TimelineSpan> spans);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TIMELINE_TIMELINE_RECORDER_H_
