#include "trainer_sdk/flight_recorder/flight_analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trainer_sdk/flight_recorder/rank_log.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using State = RankLog::State;

Operation Sum(int64_t count = 4) {
  return AllReduce(nullptr, nullptr, count, DType::kFloat32);
}

TEST(FlightAnalysisTest, AgreementIsNoFinding) {
  const FlightAnalysis analysis =
      AnalyseFlight({RankLog(0, 2).Does(Sum(), 1).Does(Barrier(), 2).Closes(),
                     RankLog(1, 2).Does(Sum(), 1).Does(Barrier(), 2).Closes()});
  EXPECT_THAT(analysis.findings, IsEmpty());
  EXPECT_EQ(analysis.world_size, 2);
  EXPECT_EQ(analysis.groups, 1);
  ASSERT_EQ(analysis.positions.size(), 1u);
  EXPECT_EQ(analysis.positions[0].ranks, "ranks 0-1");
  EXPECT_EQ(analysis.positions[0].operation, "barrier #2");
  EXPECT_EQ(analysis.positions[0].state, "done");
}

TEST(FlightAnalysisTest, NamesWhoIsBehind) {
  const FlightAnalysis analysis = AnalyseFlight(
      {RankLog(0, 3).Does(Sum(), 1).Does(Barrier(), 2, State::kIn),
       RankLog(1, 3).Does(Sum(), 1),
       RankLog(2, 3).Does(Sum(), 1).Does(Barrier(), 2, State::kIn)});
  EXPECT_THAT(
      analysis.findings,
      ElementsAre("rank 1 (node1, pid 101) is behind: it did not call barrier "
                  "#2 in group world, where ranks 0, 2 wait; its last was "
                  "all_reduce #1 of 4 float32 (16 bytes), sum in group world, "
                  "done 1.0 s before the end"));
  ASSERT_EQ(analysis.positions.size(), 2u);
  EXPECT_EQ(analysis.positions[0].state, "in it for 0.5 s");
}

TEST(FlightAnalysisTest, NamesWhoCalledSomethingElse) {
  EXPECT_THAT(
      AnalyseFlight({RankLog(0, 3).Does(Sum(5), 1, State::kIn),
                     RankLog(1, 3).Does(Sum(4), 1, State::kIn),
                     RankLog(2, 3).Does(Sum(4), 1, State::kIn)})
          .findings,
      ElementsAre("in group world ranks 1-2 called all_reduce #1 of 4 float32 "
                  "(16 bytes), sum, but rank 0 called all_reduce #1 of 5 "
                  "float32 (20 bytes), sum"));
}

TEST(FlightAnalysisTest, NamesTheFirstMismatchOnly) {
  EXPECT_EQ(AnalyseFlight({RankLog(0, 2).Does(Sum(5), 1).Does(Sum(7), 2),
                           RankLog(1, 2).Does(Sum(4), 1).Does(Sum(8), 2)})
                .findings.size(),
            1u);
}

TEST(FlightAnalysisTest, NamesTheDeadAndTheMissing) {
  const FlightAnalysis analysis = AnalyseFlight(
      {RankLog(0, 4).Does(Sum(), 1, State::kFailed).Says("rank 1 died"),
       RankLog(1, 4).Does(Sum(), 1, State::kIn),
       RankLog(2, 4).Does(Sum(), 1, State::kFailed).Says("rank 1 died")});
  EXPECT_THAT(
      analysis.findings,
      ElementsAre(HasSubstr("there is no dump of rank 3 of 4"),
                  AllOf(HasSubstr("rank 1 (node1, pid 101) ended without a "
                                  "word while others failed"),
                        HasSubstr("it was in all_reduce #1"))));
  ASSERT_EQ(analysis.reasons.size(), 1u);
  EXPECT_EQ(analysis.reasons[0].first, "ranks 0, 2");
  EXPECT_EQ(analysis.reasons[0].second, "rank 1 died");
}

TEST(FlightAnalysisTest, RankInAFinishedOperationIsBehind) {
  // Rank 1 is still in the first operation, although rank 0 has finished it and
  // waits in the second. Rank 1 must be reported as behind.
  EXPECT_THAT(
      AnalyseFlight({RankLog(0, 2).Does(Sum(), 1).Does(Sum(), 2, State::kIn),
                     RankLog(1, 2).Does(Sum(), 1, State::kIn)})
          .findings,
      ElementsAre("rank 1 (node1, pid 101) is behind: it did not call "
                  "all_reduce #2 of 4 float32 (16 bytes), sum in group world, "
                  "where rank 0 waits; it never came out of all_reduce #1 of "
                  "4 float32 (16 bytes), sum in group world"));
}

// Makes the logs of three ranks. Rank 1 is stuck in `in`, the first operation
// in group world. The other ranks have finished this operation and wait for
// rank 1 in another group.
std::vector<FlightLog> StoppedIn(const Operation& in,
                                 State state = State::kIn) {
  const std::vector<int> all = {0, 1, 2};
  const auto waits = [&](int rank) {
    return RankLog(rank, 3)
        .Group("world/dp:0", all)
        .Does(in, 1)
        .Does(Barrier(), 1, State::kIn, 1);
  };
  return {waits(0), RankLog(1, 3).Group("world/dp:0", all).Does(in, 1, state),
          waits(2)};
}

TEST(FlightAnalysisTest, AlsoWhereTheyWaitForItInAnotherGroup) {
  EXPECT_THAT(
      AnalyseFlight(StoppedIn(Sum())).findings,
      ElementsAre("rank 1 (node1, pid 101) is behind: it did not call barrier "
                  "#1 in group world/dp:0, where ranks 0, 2 wait; it never "
                  "came out of all_reduce #1 of 4 float32 (16 bytes), sum in "
                  "group world"));
  const auto behind = ElementsAre(HasSubstr("rank 1 (node1, pid 101) is beh"));
  for (const Operation& other :
       {Barrier(), AllGather(nullptr, nullptr, 4, DType::kInt8),
        ReduceScatter(nullptr, nullptr, 4, DType::kInt8),
        AllToAll(nullptr, nullptr, 4, DType::kInt8)}) {
    EXPECT_THAT(AnalyseFlight(StoppedIn(other)).findings, behind);
  }
  // Rank 1's process was stopped for a while, so its own operation failed with
  // DeadlineExceeded. Rank 1 must be reported as behind.
  EXPECT_THAT(AnalyseFlight(StoppedIn(Sum(), State::kFailed)).findings, behind);
}

TEST(FlightAnalysisTest, OperationThatFinishesAloneBlamesNoRank) {
  const auto circle = ElementsAre(HasSubstr("ranks wait for each other"));
  EXPECT_THAT(
      AnalyseFlight(StoppedIn(Broadcast(nullptr, nullptr, 4, DType::kInt8, 0)))
          .findings,
      circle);
  EXPECT_THAT(AnalyseFlight(StoppedIn(AllToAll(nullptr, nullptr, {1, 0, 1},
                                               {1, 0, 1}, DType::kInt8)))
                  .findings,
              circle);
  // Rank 1's operation failed with Unavailable, perhaps because another rank
  // finished the operation and then died. Rank 1 must not be reported as
  // behind.
  std::vector<FlightLog> logs = StoppedIn(Sum(), State::kFailed);
  logs[1].records[0].status = absl::StatusCode::kUnavailable;
  EXPECT_THAT(AnalyseFlight(logs).findings, circle);
}

TEST(FlightAnalysisTest, OtherFinishedOperationBlamesNoRank) {
  const std::vector<int> all = {0, 1, 2};
  const auto stuck = [&](int rank) {
    return RankLog(rank, 3).Group("world/dp:0", all).Does(Sum(), 1, State::kIn);
  };
  EXPECT_THAT(AnalyseFlight({RankLog(0, 3)
                                 .Group("world/dp:0", all)
                                 .Does(Barrier(), 1)
                                 .Does(Barrier(), 1, State::kIn, 1),
                             stuck(1), stuck(2)})
                  .findings,
              ElementsAre(HasSubstr("but rank 0 called barrier #1")));
}

TEST(FlightAnalysisTest, LastRankInAnOperationIsBehind) {
  EXPECT_THAT(
      AnalyseFlight({RankLog(0, 3).Does(Barrier(), 1),
                     RankLog(1, 3).Does(Barrier(), 1, State::kIn),
                     RankLog(2, 3).Does(Barrier(), 1)})
          .findings,
      ElementsAre("rank 1 (node1, pid 101) is behind: it never came out of "
                  "barrier #1 in group world, which ranks 0, 2 have done"));
}

TEST(FlightAnalysisTest, FirstOfSeveralOperationsDecidesBlame) {
  // Rank 2 must not be blamed for missing the second operation, because rank 2
  // still waits in the first.
  EXPECT_THAT(
      AnalyseFlight(
          {RankLog(0, 3).Does(Sum(), 1, State::kIn).Does(Sum(), 2, State::kIn),
           RankLog(1, 3), RankLog(2, 3).Does(Sum(), 1, State::kIn)})
          .findings,
      ElementsAre(HasSubstr("rank 1 (node1, pid 101) is behind")));
}

TEST(FlightAnalysisTest, BlamedRankIsReportedOnce) {
  const auto told = [](int number, int64_t count) {
    return RankLog(number, 3).Does(Sum(count), 1, State::kFailed).Says("x");
  };
  EXPECT_THAT(
      AnalyseFlight({RankLog(0, 3).Does(Sum(5), 1), told(1, 4), told(2, 4)})
          .findings,
      ElementsAre(HasSubstr("but rank 0 called all_reduce #1 of 5")));
}

TEST(FlightAnalysisTest, UnstartedOperationIsQueued) {
  const FlightAnalysis analysis =
      AnalyseFlight({RankLog(0, 2).Does(Sum(), 1, State::kIn),
                     RankLog(1, 2).Does(Barrier(), 0, State::kQueued)});
  EXPECT_THAT(analysis.findings,
              ElementsAre(HasSubstr("its last was barrier #0 in group world, "
                                    "which had not begun")));
  ASSERT_EQ(analysis.positions.size(), 2u);
  EXPECT_EQ(analysis.positions[1].state, "queued");
}

TEST(FlightAnalysisTest, TimesOfClocksThatDifferAreNotNegative) {
  FlightLog early = RankLog(0, 1).Does(Sum(), 1, State::kIn);
  early.written = 1;
  EXPECT_EQ(AnalyseFlight({early}).positions.at(0).state, "in it for 0.0 s");
}

TEST(FlightAnalysisTest, RankThatWaitsElsewhereIsNotBlamed) {
  // Rank 0 waits for rank 1 in the world. Rank 1 waits for rank 2 in a group of
  // ranks 1 and 2. Rank 2 is in no operation, so only rank 2 is to blame.
  const auto pair = std::vector<int>{1, 2};
  EXPECT_THAT(AnalyseFlight({RankLog(0, 3).Does(Sum(), 1, State::kIn),
                             RankLog(1, 3)
                                 .Group("world/pp:1", pair)
                                 .Does(Barrier(), 5, State::kIn, 1),
                             RankLog(2, 3)
                                 .Group("world/pp:1", pair)
                                 .Does(Barrier(), 4, State::kDone, 1)})
                  .findings,
              // Rank 2 must be named once, although ranks in two groups wait
              // for it.
              ElementsAre(HasSubstr("rank 2 (node2, pid 102) is behind")));
}

TEST(FlightAnalysisTest, ACircleIsSeen) {
  const auto pair = std::vector<int>{0, 1};
  EXPECT_THAT(
      AnalyseFlight(
          {RankLog(0, 2).Group("world/dp:0", pair).Does(Sum(), 1, State::kIn),
           RankLog(1, 2)
               .Group("world/dp:0", pair)
               .Does(Barrier(), 1, State::kIn, 1)})
          .findings,
      ElementsAre("ranks wait for each other in different operations: rank 0 "
                  "in all_reduce #1 of 4 float32 (16 bytes), sum in group "
                  "world; rank 1 in barrier #1 in group world/dp:0"));
}

TEST(FlightAnalysisTest, AndWhereTheOperationsAreAlikeInTwoGroups) {
  const auto pair = std::vector<int>{0, 1};
  EXPECT_THAT(
      AnalyseFlight(
          {RankLog(0, 2).Group("world/dp:0", pair).Does(Sum(), 1, State::kIn),
           RankLog(1, 2)
               .Group("world/dp:0", pair)
               .Does(Sum(), 1, State::kIn, 1)})
          .findings,
      ElementsAre(HasSubstr("ranks wait for each other")));
}

TEST(FlightAnalysisTest, AFailureOfAllIsTheTransports) {
  EXPECT_THAT(
      AnalyseFlight({RankLog(0, 2).Does(Sum(), 1, State::kFailed).Says("x"),
                     RankLog(1, 2).Does(Sum(), 1, State::kFailed).Says("x")})
          .findings,
      ElementsAre(AllOf(HasSubstr("nobody is behind"),
                        HasSubstr("or one of them was stopped inside it"))));
}

TEST(FlightAnalysisTest, OfATransportThatOnlyLaunchesWhoCalledLessIsBehind) {
  EXPECT_THAT(
      AnalyseFlight({RankLog(0, 2).Does(Sum(), 1).Does(Sum(), 2).Says("late"),
                     RankLog(1, 2).Does(Sum(), 1).Says("told by a peer")})
          .findings,
      ElementsAre(AllOf(HasSubstr("rank 1 (node1, pid 101) is behind"),
                        HasSubstr("which rank 0 did"))));
  EXPECT_THAT(AnalyseFlight({RankLog(0, 2).Does(Sum(), 1).Says("late"),
                             RankLog(1, 2).Does(Sum(), 1).Says("late")})
                  .findings,
              ElementsAre(HasSubstr("all called the same")));
  // Rank 0 has called more operations than rank 1. But no rank has failed, so
  // the job may still be running, and nothing is reported.
  EXPECT_THAT(AnalyseFlight({RankLog(0, 2).Does(Sum(), 1).Does(Sum(), 2),
                             RankLog(1, 2).Does(Sum(), 1)})
                  .findings,
              IsEmpty());
}

TEST(FlightAnalysisTest, GroupsOfOneNameAreNotCompared) {
  const std::vector<int> both = {0, 1};
  const auto rank = [&](int number) {
    return RankLog(number, 2)
        .Group("world/dp:0", both, 1)
        .Does(Sum(), 1, State::kDone, 1)
        .Group("world/dp:0", both, 3)
        .Does(Barrier(), 1, State::kDone, 2);
  };
  EXPECT_THAT(AnalyseFlight({rank(0), rank(1)}).findings, IsEmpty());
  EXPECT_EQ(AnalyseFlight({rank(0), rank(1)}).groups, 3);
  EXPECT_THAT(
      AnalyseFlight({rank(0).Does(Sum(), 2, State::kIn, 2), rank(1)}).findings,
      ElementsAre(AllOf(HasSubstr("rank 1 (node1, pid 101) is behind"),
                        HasSubstr("in group world/dp:0 (no. 2), where"))));
}

TEST(FlightAnalysisTest, GroupOfSomeRanksOnlyIsDistinguished) {
  const std::vector<int> both = {0, 1};
  EXPECT_THAT(AnalyseFlight({RankLog(0, 2)
                                 .Group("pair", both, 1)
                                 .Does(Sum(), 1, State::kFailed, 1)
                                 .Group("pair", both, 2)
                                 .Does(Barrier(), 1, State::kDone, 2),
                             RankLog(1, 2)
                                 .Group("pair", both, 2)
                                 .Does(Barrier(), 1, State::kDone, 1)})
                  .findings,
              IsEmpty());
}

TEST(FlightAnalysisTest, GroupsThatAreAlikeInAllAreCounted) {
  const std::vector<int> both = {0, 1};
  const auto rank = [&](int number) {
    return RankLog(number, 2)
        .Group("world", both)
        .Does(Sum(), 1)
        .Does(Barrier(), 1, State::kDone, 1);
  };
  EXPECT_THAT(AnalyseFlight({rank(0), rank(1)}).findings, IsEmpty());
}

TEST(FlightAnalysisTest, AFailureIsOverOnceItsGroupIsMadeAgain) {
  const std::vector<int> all = {0, 1, 2};
  const auto failed = [&](int number) {
    return RankLog(number, 3)
        .Group("world/dp:0", all, 1)
        .Does(Sum(), 1)
        .Does(Barrier(), 2, State::kFailed)
        .Does(Barrier(), 2, State::kFailed, 1);
  };
  const auto again = [&](RankLog rank) {
    return rank.Group("world", all, 2).Does(Sum(7), 1, State::kDone, 2);
  };
  // The log of rank 2, which did not call the barriers that failed on ranks 0
  // and 1.
  const RankLog late = RankLog(2, 3).Group("world/dp:0", all, 1).Does(Sum(), 1);
  EXPECT_THAT(
      AnalyseFlight({again(failed(0)), again(failed(1)), again(late)}).findings,
      IsEmpty());
  EXPECT_THAT(AnalyseFlight({failed(0), failed(1), late}).findings,
              ElementsAre(HasSubstr("rank 2 (node2, pid 102) is behind")));
  // The groups created after the failure have other names than "world/dp:0". So
  // the failure of "world/dp:0" must still be reported.
  EXPECT_THAT(AnalyseFlight({failed(0).Group("world/dp", all, 2),
                             failed(1).Group("w", all), late})
                  .findings,
              ElementsAre(HasSubstr("rank 2 (node2, pid 102) is behind")));
  // Ranks called different operations in a group, but created the group again
  // later. The mismatch is not reported.
  const auto differs = [&](int number) {
    return again(RankLog(number, 3)
                     .Group("world/dp:0", all, 1)
                     .Does(Sum(number), 1, State::kFailed));
  };
  EXPECT_THAT(AnalyseFlight({differs(0), differs(1), differs(2)}).findings,
              IsEmpty());
}

TEST(FlightAnalysisTest, OnlyALaterGroupOfItsNameMakesAmends) {
  const std::vector<int> all = {0, 1, 2};
  const auto stuck = [&](const std::string& name, int of) {
    const auto failed = [&](int number) {
      return RankLog(number, 3)
          .Group("world/dp:0", all)
          .Group("world/dp:0", all, 1)
          .Does(Barrier(), 1, State::kFailed, of);
    };
    const RankLog late =
        RankLog(2, 3).Group("world/dp:0", all).Group("world/dp:0", all, 1);
    return AnalyseFlight({failed(0).Group(name, all, 2),
                          failed(1).Group(name, all, 2),
                          RankLog(late).Group(name, all, 2)})
        .findings;
  };
  EXPECT_THAT(stuck("world/dp:0", 2), IsEmpty());
  const auto behind = ElementsAre(HasSubstr("rank 2 (node2, pid 102) is beh"));
  EXPECT_THAT(stuck("world/dp", 2), behind);
  // The first of two groups named "world/dp:0" has a failed barrier, and was
  // not created again after the failure: the second group is older than the
  // failure. So the failure must still be reported.
  EXPECT_THAT(stuck("other", 1), behind);
}

TEST(FlightAnalysisTest, GroupsOfOtherMembersAreNotCountedWithIt) {
  EXPECT_THAT(
      AnalyseFlight({RankLog(0, 3)
                         .Group("pair", {0, 1})
                         .Group("pair", {0, 2})
                         .Does(Barrier(), 1, State::kIn, 2),
                     RankLog(1, 3), RankLog(2, 3).Group("pair", {0, 2})})
          .findings,
      ElementsAre(HasSubstr("in group pair, where rank 0 waits")));
}

TEST(FlightAnalysisTest, RankWithFewerCallsBeforeRecreationIsNotBehind) {
  const std::vector<int> both = {0, 1};
  EXPECT_THAT(
      AnalyseFlight(
          {RankLog(0, 2)
               .Does(Sum(), 1)
               .Does(Sum(), 2)
               .Group("world", both, 2)
               .Says("x"),
           RankLog(1, 2).Does(Sum(), 1).Group("world", both, 2).Says("x")})
          .findings,
      ElementsAre(HasSubstr("all called the same")));
}

TEST(FlightAnalysisTest, ADumpThatWasAskedForIsNoFailure) {
  const FlightAnalysis analysis =
      AnalyseFlight({RankLog(0, 2).Does(Sum(), 1).IsAsked("a look"),
                     RankLog(1, 2).Does(Sum(), 1)});
  EXPECT_THAT(analysis.findings, IsEmpty());
  EXPECT_THAT(analysis.reasons,
              ElementsAre(Pair("rank 0", "a dump was asked for: a look")));
}

TEST(FlightAnalysisTest, UnnamedMembersAreTakenFromTheLogs) {
  const auto unnamed = [](int rank) {
    FlightLog log = RankLog(rank, 2);
    log.groups[0].members.clear();
    return log;
  };
  FlightLog waits = unnamed(0);
  waits.records =
      static_cast<FlightLog>(RankLog(0, 2).Does(Barrier(), 1, State::kIn))
          .records;
  EXPECT_THAT(AnalyseFlight({waits, unnamed(1)}).findings,
              ElementsAre(HasSubstr("rank 1 (node1, pid 101) is behind")));
}

}  // namespace
}  // namespace muster
