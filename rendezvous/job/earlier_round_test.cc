#include "rendezvous/job/earlier_round.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace muster::rendezvous {
namespace {

using std::chrono::seconds;
using Fate = EarlierRound::Fate;

constexpr uint64_t kEpoch = uint64_t{5} << kDrawnEpochBits;
constexpr uint64_t kNext = kEpoch + 1;  // the coordinator that takes over
constexpr WorldId kWorld{.epoch = kEpoch, .round = 2};

RoundEnd Order(std::optional<int> exit_code, uint64_t revision = 1) {
  RoundEnd end;
  end.round = kWorld.round;
  end.epoch = kEpoch;
  end.revision = revision;
  end.exit_code = exit_code;
  end.reason = "it ended";
  return end;
}

RoundEnd CancelOrder() {
  RoundEnd end = Order(130);
  end.cancelled = true;
  return end;
}

// A node of kWorld, the newest electorate that it knows.
Report Member(int rank, std::optional<RoundEnd> end = std::nullopt) {
  Report report;
  report.place = Place();
  report.place->epoch = kWorld.epoch;
  report.place->round = kWorld.round;
  report.place->group_rank = rank;
  report.electorate = {
      .epoch = kEpoch, .world = kWorld, .nodes = 2, .rank = rank};
  report.host_rank = 1;
  report.round_end = std::move(end);
  return report;
}

TEST(VerdictOf, TheOrderTellsOutcomeAndExitCode) {
  EXPECT_FALSE(VerdictOf(Order(std::nullopt), {}).has_value());
  EXPECT_EQ(VerdictOf(Order(0), {})->outcome, Outcome::kSucceeded);
  EXPECT_EQ(VerdictOf(Order(7), {})->outcome, Outcome::kFailed);
  EXPECT_EQ(VerdictOf(Order(7), {})->exit_code, 7);
  EXPECT_EQ(VerdictOf(CancelOrder(), {})->outcome, Outcome::kCancelled);
}

TEST(VerdictOf, APreemptionNoticeGivesTheVerdictLater) {
  Report report = Member(0);
  EXPECT_TRUE(VerdictOf(Order(kPreemptedExitCode), {&report}).has_value());
  report.preemption = PreemptionNotice();
  EXPECT_FALSE(VerdictOf(Order(kPreemptedExitCode), {&report}).has_value());
}

TEST(EarlierRound, WithoutAnElectorateThereIsNone) {
  const Report fresh;
  EXPECT_FALSE(EarlierRound::GivenUp({&fresh}).exists());
}

TEST(EarlierRound, ARoundThatIsGivenUpKeepsItsVerdict) {
  const Report silent = Member(0);
  const Report told = Member(1, Order(7));
  const EarlierRound round = EarlierRound::GivenUp({&silent, &told});
  EXPECT_EQ(round.world, kWorld);
  EXPECT_EQ(round.end.exit_code, 7);
  ASSERT_TRUE(round.verdict.has_value());
  EXPECT_EQ(round.verdict->outcome, Outcome::kFailed);
}

TEST(EarlierRound, TheEndOfAnOlderWorldDoesNotCount) {
  const Report told = Member(1, Order(7));
  Report later = Member(0);
  later.place->round = 3;
  const EarlierRound round = EarlierRound::GivenUp({&later, &told});
  EXPECT_EQ(round.world.round, 3);
  EXPECT_FALSE(round.verdict.has_value());
}

TEST(EarlierRound, OnlyACancelOfAnOlderCoordinatorCounts) {
  Report told = Member(1, Order(7));
  Report newer = Member(0);
  newer.electorate.epoch = kNext;
  EXPECT_FALSE(EarlierRound::GivenUp({&newer, &told}).verdict.has_value());
  EXPECT_EQ(EarlierRound::GivenUp({&newer, &told}).end.epoch, kNext);
  told.round_end = CancelOrder();
  EXPECT_TRUE(EarlierRound::GivenUp({&newer, &told}).verdict.has_value());
}

TEST(EarlierRound, ACancelOfTheNewestVoidRoundIsTaken) {
  EarlierRound round;
  round.TakeVoidCancel(Member(0, Order(7)), kWorld);
  EXPECT_FALSE(round.exists()) << "no cancel";
  round.TakeVoidCancel(Member(0, CancelOrder()), {kEpoch, 3});
  EXPECT_FALSE(round.exists()) << "a node knows a newer round";
  round.TakeVoidCancel(Member(0, CancelOrder()), kWorld);
  EXPECT_EQ(round.world, kWorld);
}

TEST(EarlierRound, AnyNewerWorldSupersedesIt) {
  const EarlierRound round{.world = kWorld};
  Report report = Member(0);
  EXPECT_FALSE(round.IsSuperseded(report));
  report.place->round = 3;
  EXPECT_TRUE(round.IsSuperseded(report));
  report = Member(0);
  report.electorate.world.round = 3;
  EXPECT_TRUE(round.IsSuperseded(report));
}

TEST(EarlierRound, AnOrderCountsUntilTheEndIsDecided) {
  EarlierRound round{.world = kWorld};
  const Report failed = Member(0, Order(7));
  EXPECT_TRUE(round.Accepts(failed, kNext, Fate::kGivenUp));
  EXPECT_FALSE(round.Accepts(failed, kNext, Fate::kAdopted));
  EXPECT_FALSE(round.Accepts(Member(0), kNext, Fate::kGivenUp)) << "no order";
  EXPECT_FALSE(round.Accepts(failed, kEpoch, Fate::kGivenUp)) << "own order";
  round.verdict = Verdict();
  EXPECT_FALSE(round.Accepts(failed, kNext, Fate::kGivenUp));
}

TEST(EarlierRound, ACancelCountsAlsoAfterTheDecision) {
  const EarlierRound round{.world = kWorld};
  const Report cancelled = Member(0, CancelOrder());
  EXPECT_TRUE(round.Accepts(cancelled, kNext, Fate::kAdopted));
}

TEST(EarlierRound, AnOlderOrderDoesNotReplaceANewerOne) {
  const EarlierRound round{.world = kWorld, .end = Order(7, 2)};
  EXPECT_FALSE(round.Accepts(Member(0, Order(8, 2)), kNext, Fate::kGivenUp));
  EXPECT_TRUE(round.Accepts(Member(0, Order(8, 3)), kNext, Fate::kGivenUp));
}

// A world of two nodes, of which only that with rank 0 has reported.
struct LostHostTest : testing::Test {
  LostHostTest() {
    world.epoch = kEpoch;
    world.members = {{.node_id = "a"}, {.host = "b"}};
  }
  std::optional<LostHost> Find() const {
    return LostHost::Of(world, kWorld.round, reports, now, seconds(5));
  }

  World world;
  std::map<std::string, Report> reports = {{"a", Member(0)}};
  Instant now = Instant() + seconds(100);
};

TEST_F(LostHostTest, AMissingHostIsAwaitedForAShortTime) {
  const auto host = Find();
  ASSERT_TRUE(host.has_value());
  EXPECT_EQ(host->rank, 1);
  EXPECT_EQ(host->name, "b");
  EXPECT_EQ(host->due, now + seconds(2));
  EXPECT_EQ(host->AsFailure().kind, FailureKind::kNodeLost);
  EXPECT_EQ(host->AsFailure().node_id, "b");
  EXPECT_EQ(host->Text(),
            "the node of group rank 1 (b) is lost, which coordinated the job "
            "until then");
}

TEST_F(LostHostTest, AHostThatHasReportedIsNotLost) {
  world.members[1].node_id = "b";
  EXPECT_FALSE(Find().has_value());
}

TEST_F(LostHostTest, NodesOfOtherRoundsDoNotKnowTheHost) {
  reports["a"].place->round = 1;
  EXPECT_FALSE(Find().has_value());
}

TEST_F(LostHostTest, TheNewestCoordinatorsHostCounts) {
  reports["a"].electorate.epoch = kNext;
  reports["a"].host_rank = 0;
  reports["c"] = Member(0);
  EXPECT_FALSE(Find().has_value()) << "rank 0 is here";
}

}  // namespace
}  // namespace muster::rendezvous
