#include "trainer_sdk/rank_time/rank_time.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "base/monotonic_clock.h"

namespace muster {
namespace {

using std::chrono::milliseconds;

Instant At(int ms) { return Instant(std::chrono::hours(1)) + milliseconds(ms); }

TEST(RankTime, NothingIsMeasuredBeforeTheFirstCollective) {
  RankTime time;
  EXPECT_FALSE(time.Read(At(0)).has_value());
  time.Enter(At(100));
  ASSERT_TRUE(time.Read(At(100)).has_value());
  EXPECT_EQ(time.Read(At(100))->own, milliseconds(0));
}

TEST(RankTime, TimeInsideAndBetweenCollectivesIsToldApart) {
  RankTime time;
  time.Enter(At(0));
  time.Exit(At(30));
  time.Enter(At(100));
  time.Exit(At(105));
  const RankTimes times = *time.Read(At(125));
  EXPECT_EQ(times.blocked, milliseconds(35));
  EXPECT_EQ(times.own, milliseconds(90));
}

TEST(RankTime, OverlappingCollectivesCountOnce) {
  RankTime time;
  time.Enter(At(0));
  time.Enter(At(10));
  time.Exit(At(20));
  time.Exit(At(40));
  time.Enter(At(50));
  EXPECT_EQ(time.Read(At(60))->blocked, milliseconds(50));
  EXPECT_EQ(time.Read(At(60))->own, milliseconds(10));
}

TEST(RankTime, TimesReadInTheWrongOrderDoNotGoBackwards) {
  RankTime time;
  time.Enter(At(0));
  time.Enter(At(20));
  time.Exit(At(10));
  time.Exit(At(30));
  EXPECT_EQ(time.Read(At(25))->blocked, milliseconds(30));
  EXPECT_EQ(time.Read(At(25))->own, milliseconds(0));
}

TEST(RankTime, AnExitWithoutAnEnterIsIgnored) {
  RankTime time;
  EXPECT_FALSE(time.Exit(At(0)));
  EXPECT_FALSE(time.Read(At(0)).has_value());
}

TEST(RankTime, WaitingForDataCountsAfterTheFirstCollective) {
  RankTime time;
  time.AddDataWait(milliseconds(5000));
  time.Enter(At(0));
  time.Exit(At(1));
  time.AddDataWait(milliseconds(7));
  time.AddDataWait(milliseconds(2));
  EXPECT_EQ(time.Read(At(20))->data, milliseconds(9));
  EXPECT_EQ(time.Read(At(20))->own, milliseconds(19));
}

TEST(RankTime, TheLinksWithTheMostTimeAreGiven) {
  RankTime time;
  time.Enter(At(0));
  EXPECT_TRUE(time.Read(At(0))->links.empty());
  for (int peer = 10; peer > 0; --peer) {
    time.AddLinkTime(peer, milliseconds(peer), 1000);
  }
  time.AddLinkTime(1, milliseconds(100), 7);
  const std::vector<LinkTime> links = time.Read(At(0))->links;
  ASSERT_EQ(links.size(), RankTime::kMaxLinks);
  EXPECT_EQ(links[0].peer, 1);
  EXPECT_EQ(links[0].limited, milliseconds(101));
  EXPECT_EQ(links[1].peer, 10);
  EXPECT_EQ(links[7].peer, 4);
  EXPECT_EQ(time.Read(At(0))->sent, 10'007);
}

TEST(RankTime, ReportsAreDueAtTheirInterval) {
  RankTime time;
  const auto report_is_due = [&](int ms) {
    time.Enter(At(ms));
    return time.Exit(At(ms));
  };
  EXPECT_TRUE(report_is_due(0));
  EXPECT_FALSE(report_is_due(499));
  EXPECT_TRUE(report_is_due(500));
  EXPECT_FALSE(report_is_due(501));
}

TEST(RankTime, AProcessThatReportsStepsNeedsNoOtherReports) {
  RankTime time;
  EXPECT_FALSE(time.TakeAtStep(At(0)).has_value());
  time.Enter(At(0));
  EXPECT_FALSE(time.Exit(At(1)));
  EXPECT_EQ(time.TakeAtStep(At(2))->own, milliseconds(1));
  time.Enter(At(60'001));
  EXPECT_FALSE(time.Exit(At(60'001)));
  time.Enter(At(60'002));
  EXPECT_TRUE(time.Exit(At(60'002)));
}

TEST(RankTime, AfterStopNothingIsMeasured) {
  RankTime time;
  time.Enter(At(0));
  time.Stop();
  EXPECT_FALSE(time.Exit(At(1000)));
  time.Enter(At(2000));
  EXPECT_FALSE(time.Read(At(3000)).has_value());
}

TEST(DataWait, AddsToTheProcess) {
  RankTime& process = RankTime::Process();
  const Instant now = MonotonicNow();
  process.Enter(now);
  process.Exit(now);
  {
    DataWait wait;
    while (MonotonicNow() < now + milliseconds(1)) {
    }
  }
  const RankTimes times = *process.Read(MonotonicNow());
  EXPECT_GT(times.data, Duration::zero());
  EXPECT_LE(times.data, times.own);
}

}  // namespace
}  // namespace muster
