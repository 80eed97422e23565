#include "trainer_sdk/timeline/timeline_recorder.h"

#include "gtest/gtest.h"

namespace muster {
namespace {

Instant At(int64_t nanoseconds) { return Instant(Duration(nanoseconds)); }

TEST(TimelineRecorderTest, KeepsTheLastSteps) {
  TimelineRecorder recorder(2);
  // This span must not be recorded, because no step has begun.
  recorder.Add(SpanKind::kForward, 0, At(1), At(2));
  for (int64_t step = 0; step < 5; ++step) {
    recorder.BeginStep(step);
    recorder.OnReduced({.bucket = 1,
                        .bytes = 64,
                        .asked = At(10 * step),
                        .began = At(10 * step + 1),
                        .ended = At(10 * step + 2)});
    recorder.OnWaited(At(10 * step + 1), At(10 * step + 3));
  }
  const std::vector<TimelineSpan> expected = {
      {.kind = SpanKind::kReduce,
       .step = 3,
       .number = 1,
       .begin = 31,
       .end = 32,
       .asked = 30,
       .bytes = 64},
      {.kind = SpanKind::kWait, .step = 3, .begin = 31, .end = 33},
      {.kind = SpanKind::kReduce,
       .step = 4,
       .number = 1,
       .begin = 41,
       .end = 42,
       .asked = 40,
       .bytes = 64},
      {.kind = SpanKind::kWait, .step = 4, .begin = 41, .end = 43}};
  EXPECT_EQ(recorder.spans(), expected);
}

TEST(TimelineRecorderTest, ManyMicroBatchesLeaveBucketsTheirPlace) {
  TimelineRecorder recorder(1);
  for (int64_t step = 0; step < 2; ++step) {
    recorder.BeginStep(step);
    for (int64_t i = 0; i < TimelineRecorder::kMaxPasses + 5; ++i) {
      recorder.Add(SpanKind::kBackward, i, At(i), At(i + 1));
    }
    recorder.OnReduced({});
    recorder.Add(SpanKind::kStep, 0, At(0), At(9999));
    const std::vector<TimelineSpan> spans = recorder.spans();
    ASSERT_EQ(spans.size(),
              static_cast<size_t>(TimelineRecorder::kMaxPasses + 2));
    EXPECT_EQ(spans[spans.size() - 2].kind, SpanKind::kReduce);
    EXPECT_EQ(spans.back().number, 5);
  }
}

TEST(TimelineRecorderTest, APartLastsUntilItsLastGradient) {
  TimelineRecorder recorder(1);
  recorder.BeginStep(0);
  {
    RecordedParts parts(&recorder);
    for (const int64_t part : {2, 1, 1, 0}) parts.Made(part);
  }
  const std::vector<TimelineSpan> spans = recorder.spans();
  ASSERT_EQ(spans.size(), 3u);
  for (size_t i = 0; i < spans.size(); ++i) {
    EXPECT_EQ(spans[i].kind, SpanKind::kPart);
    EXPECT_EQ(spans[i].number, 2 - static_cast<int64_t>(i));
    EXPECT_LE(spans[i].begin, spans[i].end);
    EXPECT_EQ(spans[i].begin, i > 0 ? spans[i - 1].end : spans[0].begin);
  }
}

TEST(TimelineRecorderTest, NullRecordsNothing) {
  const RecordedSpan span(nullptr, SpanKind::kStep);
  RecordedParts parts(nullptr);
  parts.Made(1);
}

}  // namespace
}  // namespace muster
