#include "trainer_sdk/timeline/overlap.h"

#include "gtest/gtest.h"

namespace muster {
namespace {

TimelineSpan Span(SpanKind kind, int64_t begin, int64_t end) {
  return {.kind = kind, .begin = begin, .end = end};
}

TEST(OverlapTest, CommunicationOutsideTheWaitIsHidden) {
  const CommunicationOverlap overlap = OverlapOf(
      // The rank waits from 75 to 98 ns. The reduction from 20 to 50 ns is
      // hidden completely. Only the first 5 ns of the reduction from 70 to 95
      // ns, before the wait, are hidden.
      {Span(SpanKind::kReduce, 70, 95), Span(SpanKind::kStep, 0, 120),
       Span(SpanKind::kReduce, 20, 50), Span(SpanKind::kForward, 0, 10),
       Span(SpanKind::kBackward, 10, 75), Span(SpanKind::kWait, 75, 98)});
  EXPECT_EQ(overlap.steps, 1);
  EXPECT_EQ(overlap.step, Duration(120));
  EXPECT_EQ(overlap.communication, Duration(30 + 25));
  EXPECT_EQ(overlap.hidden, Duration(30 + 5));
  EXPECT_EQ(overlap.exposed, Duration(23));
  EXPECT_EQ(overlap.HiddenShare(), 35.0 / 55);
  EXPECT_EQ(overlap.ExposedShare(), 23.0 / 120);
}

// Time in overlapping or adjacent intervals must be counted once.
TEST(OverlapTest, TimeIsCountedOnce) {
  const CommunicationOverlap overlap = OverlapOf(
      {Span(SpanKind::kReduce, 10, 40), Span(SpanKind::kReduce, 20, 30),
       Span(SpanKind::kReduce, 40, 60), Span(SpanKind::kWait, 35, 38),
       Span(SpanKind::kWait, 50, 70), Span(SpanKind::kWait, 55, 58)});
  EXPECT_EQ(overlap.communication, Duration(50));
  EXPECT_EQ(overlap.hidden, Duration(50 - 3 - 10));
  EXPECT_EQ(overlap.exposed, Duration(3 + 20));
}

TEST(OverlapTest, StepsAreAdded) {
  std::vector<TimelineSpan> spans;
  for (const int64_t at : {0, 1000}) {
    spans.push_back(Span(SpanKind::kStep, at, at + 100));
    spans.push_back(Span(SpanKind::kReduce, at + 30, at + 50));
    spans.push_back(Span(SpanKind::kWait, at + 45, at + 50));
  }
  const CommunicationOverlap overlap = OverlapOf(spans);
  EXPECT_EQ(overlap.steps, 2);
  EXPECT_EQ(overlap.step, Duration(200));
  EXPECT_EQ(overlap.hidden, Duration(30));
  EXPECT_EQ(overlap.exposed, Duration(10));
}

TEST(OverlapTest, NothingIsNoShare) {
  const CommunicationOverlap none = OverlapOf({});
  EXPECT_EQ(none.HiddenShare(), 0);
  EXPECT_EQ(none.ExposedShare(), 0);
  EXPECT_EQ(DescribeOverlap({none}), "no gradients were reduced");
}

TEST(OverlapTest, SlowestRankIsDescribed) {
  const auto milliseconds = [](int64_t n) { return Duration(n * 1'000'000); };
  const CommunicationOverlap first{.steps = 2,
                                   .step = milliseconds(200),
                                   .communication = milliseconds(20),
                                   .hidden = milliseconds(19),
                                   .exposed = milliseconds(1)};
  CommunicationOverlap second = first;
  second.exposed = milliseconds(3);
  EXPECT_EQ(DescribeOverlap({first}),
            "10.00 ms of communication a step, 95.0 % of it hidden behind the "
            "backward pass; exposed: 0.50 ms, 0.5 % of the step");
  EXPECT_EQ(DescribeOverlap({first, second}),
            "10.00 ms of communication a step, 95.0 % of it hidden behind the "
            "backward pass; exposed: 1.00 ms, 1.0 % of the step (at most "
            "1.5 %, rank 1)");
}

}  // namespace
}  // namespace muster
