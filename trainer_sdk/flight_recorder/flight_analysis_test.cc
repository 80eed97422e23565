#include "trainer_sdk/flight_recorder/flight_analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

enum class State { kDone, kIn, kFailed };

// A rank's log, put together call by call; a second apart.
class Rank {
 public:
  Rank(int rank, int world_size) {
    log_.rank = rank;
    log_.world_size = world_size;
    log_.host = "node" + std::to_string(rank);
    log_.pid = 100 + rank;
    std::vector<int> everybody;
    for (int i = 0; i < world_size; i++) everybody.push_back(i);
    log_.groups.push_back({"world", rank, world_size, everybody});
  }
  Rank& Does(const Operation& operation, uint64_t sequence,
             State state = State::kDone, int group = 0) {
    FlightRecord record;
    record.number = log_.records.size() + 1;
    record.group = group;
    record.signature = SignatureOf(operation, sequence);
    const BatchPeers peers = BatchPeersOf(operation);
    record.peers.assign(peers.ranks.begin(), peers.ranks.begin() + peers.count);
    record.queued = record.started = 1000.0 + static_cast<double>(sequence);
    if (state != State::kIn) record.ended = record.started + 0.5;
    if (state == State::kFailed) {
      record.status = absl::StatusCode::kDeadlineExceeded;
    }
    log_.records.push_back(record);
    log_.written = record.started + 0.5;
    return *this;
  }
  Rank& Group(const std::string& name, std::vector<int> members,
              uint64_t birth = 0) {
    log_.groups.push_back({name, 0, static_cast<int>(members.size()), members,
                           birth, log_.written + 0.1});
    return *this;
  }
  Rank& Says(const std::string& reason) {
    log_.reason = reason;
    return *this;
  }
  Rank& IsAsked(const std::string& request) {
    log_.request = request;
    return *this;
  }
  Rank& Closes() {
    log_.closed = true;
    return *this;
  }
  operator FlightLog() const { return log_; }

 private:
  FlightLog log_;
};

Operation Sum(int64_t count = 4) {
  return AllReduce(nullptr, nullptr, count, DType::kFloat32);
}

TEST(FlightAnalysisTest, AgreementIsNoFinding) {
  const FlightAnalysis analysis =
      AnalyseFlight({Rank(0, 2).Does(Sum(), 1).Does(Barrier(), 2).Closes(),
                     Rank(1, 2).Does(Sum(), 1).Does(Barrier(), 2).Closes()});
  EXPECT_THAT(analysis.findings, IsEmpty());
  EXPECT_EQ(analysis.world_size, 2);
  EXPECT_EQ(analysis.groups, 1);
  ASSERT_EQ(analysis.positions.size(), 1u);
  EXPECT_EQ(analysis.positions[0].ranks, "ranks 0-1");
  EXPECT_EQ(analysis.positions[0].operation, "barrier #2");
  EXPECT_EQ(analysis.positions[0].state, "done");
}

TEST(FlightAnalysisTest, NamesWhoIsBehind) {
  const FlightAnalysis analysis =
      AnalyseFlight({Rank(0, 3).Does(Sum(), 1).Does(Barrier(), 2, State::kIn),
                     Rank(1, 3).Does(Sum(), 1),
                     Rank(2, 3).Does(Sum(), 1).Does(Barrier(), 2, State::kIn)});
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
      AnalyseFlight({Rank(0, 3).Does(Sum(5), 1, State::kIn),
                     Rank(1, 3).Does(Sum(4), 1, State::kIn),
                     Rank(2, 3).Does(Sum(4), 1, State::kIn)})
          .findings,
      ElementsAre("in group world ranks 1-2 called all_reduce #1 of 4 float32 "
                  "(16 bytes), sum, but rank 0 called all_reduce #1 of 5 "
                  "float32 (20 bytes), sum"));
}

TEST(FlightAnalysisTest, NamesTheFirstMismatchOnly) {
  EXPECT_EQ(AnalyseFlight({Rank(0, 2).Does(Sum(5), 1).Does(Sum(7), 2),
                           Rank(1, 2).Does(Sum(4), 1).Does(Sum(8), 2)})
                .findings.size(),
            1u);
}

TEST(FlightAnalysisTest, NamesTheDeadAndTheMissing) {
  const FlightAnalysis analysis = AnalyseFlight(
      {Rank(0, 4).Does(Sum(), 1, State::kFailed).Says("rank 1 died"),
       Rank(1, 4).Does(Sum(), 1, State::kIn),
       Rank(2, 4).Does(Sum(), 1, State::kFailed).Says("rank 1 died")});
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

TEST(FlightAnalysisTest, WhoNeverCameOutOfWhatOthersHaveDoneIsBehind) {
  // Killed in the middle of the one; the others were in the next one already.
  EXPECT_THAT(
      AnalyseFlight({Rank(0, 2).Does(Sum(), 1).Does(Sum(), 2, State::kIn),
                     Rank(1, 2).Does(Sum(), 1, State::kIn)})
          .findings,
      ElementsAre("rank 1 (node1, pid 101) is behind: it did not call "
                  "all_reduce #2 of 4 float32 (16 bytes), sum in group world, "
                  "where rank 0 waits; it never came out of all_reduce #1 of "
                  "4 float32 (16 bytes), sum"));
}

TEST(FlightAnalysisTest, WhoIsHeldUpElsewhereIsNotToBlame) {
  // 0 waits for 1 in the world; 1 waits for 2 in its pair; 2 is in nothing.
  const auto pair = std::vector<int>{1, 2};
  EXPECT_THAT(AnalyseFlight({Rank(0, 3).Does(Sum(), 1, State::kIn),
                             Rank(1, 3)
                                 .Group("world/pp:1", pair)
                                 .Does(Barrier(), 5, State::kIn, 1),
                             Rank(2, 3)
                                 .Group("world/pp:1", pair)
                                 .Does(Barrier(), 4, State::kDone, 1)})
                  .findings,
              // Once for each of the two groups that it keeps waiting would be
              // once too often.
              ElementsAre(HasSubstr("rank 2 (node2, pid 102) is behind")));
}

TEST(FlightAnalysisTest, ACircleIsSeen) {
  const auto pair = std::vector<int>{0, 1};
  EXPECT_THAT(
      AnalyseFlight(
          {Rank(0, 2).Group("world/dp:0", pair).Does(Sum(), 1, State::kIn),
           Rank(1, 2)
               .Group("world/dp:0", pair)
               .Does(Barrier(), 1, State::kIn, 1)})
          .findings,
      ElementsAre("ranks wait for each other in different operations: rank 0 "
                  "in all_reduce #1 of 4 float32 (16 bytes), sum in group "
                  "world; rank 1 in barrier #1 in group world/dp:0"));
}

TEST(FlightAnalysisTest, AFailureOfAllIsTheTransports) {
  EXPECT_THAT(
      AnalyseFlight({Rank(0, 2).Does(Sum(), 1, State::kFailed).Says("x"),
                     Rank(1, 2).Does(Sum(), 1, State::kFailed).Says("x")})
          .findings,
      ElementsAre(HasSubstr("nobody is behind")));
}

TEST(FlightAnalysisTest, OfATransportThatOnlyLaunchesWhoCalledLessIsBehind) {
  EXPECT_THAT(
      AnalyseFlight({Rank(0, 2).Does(Sum(), 1).Does(Sum(), 2).Says("late"),
                     Rank(1, 2).Does(Sum(), 1).Says("told by a peer")})
          .findings,
      ElementsAre(AllOf(HasSubstr("rank 1 (node1, pid 101) is behind"),
                        HasSubstr("which rank 0 did"))));
  EXPECT_THAT(AnalyseFlight({Rank(0, 2).Does(Sum(), 1).Says("late"),
                             Rank(1, 2).Does(Sum(), 1).Says("late")})
                  .findings,
              ElementsAre(HasSubstr("all called the same")));
  // One that is further and nobody that failed: a running job.
  EXPECT_THAT(AnalyseFlight({Rank(0, 2).Does(Sum(), 1).Does(Sum(), 2),
                             Rank(1, 2).Does(Sum(), 1)})
                  .findings,
              IsEmpty());
}

TEST(FlightAnalysisTest, GroupsOfOneNameAreNotCompared) {
  const std::vector<int> both = {0, 1};
  const auto rank = [&](int number) {
    return Rank(number, 2)
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

TEST(FlightAnalysisTest, OneThatOnlySomeRanksCouldMakeIsToldApart) {
  const std::vector<int> both = {0, 1};
  EXPECT_THAT(AnalyseFlight({Rank(0, 2)
                                 .Group("pair", both, 1)
                                 .Does(Sum(), 1, State::kFailed, 1)
                                 .Group("pair", both, 2)
                                 .Does(Barrier(), 1, State::kDone, 2),
                             Rank(1, 2)
                                 .Group("pair", both, 2)
                                 .Does(Barrier(), 1, State::kDone, 1)})
                  .findings,
              IsEmpty());
}

TEST(FlightAnalysisTest, GroupsThatAreAlikeInAllAreCounted) {
  const std::vector<int> both = {0, 1};
  const auto rank = [&](int number) {
    return Rank(number, 2)
        .Group("world", both)
        .Does(Sum(), 1)
        .Does(Barrier(), 1, State::kDone, 1);
  };
  EXPECT_THAT(AnalyseFlight({rank(0), rank(1)}).findings, IsEmpty());
}

TEST(FlightAnalysisTest, AFailureIsOverOnceItsGroupIsMadeAgain) {
  const std::vector<int> all = {0, 1, 2};
  const auto failed = [&](int number) {
    return Rank(number, 3)
        .Group("world/dp:0", all, 1)
        .Does(Sum(), 1)
        .Does(Barrier(), 2, State::kFailed)
        .Does(Barrier(), 2, State::kFailed, 1);
  };
  const auto again = [&](Rank rank) {
    return rank.Group("world", all, 2).Does(Sum(7), 1, State::kDone, 2);
  };
  // Rank 2 had not come to it.
  const Rank late = Rank(2, 3).Group("world/dp:0", all, 1).Does(Sum(), 1);
  EXPECT_THAT(
      AnalyseFlight({again(failed(0)), again(failed(1)), again(late)}).findings,
      IsEmpty());
  EXPECT_THAT(AnalyseFlight({failed(0), failed(1), late}).findings,
              ElementsAre(HasSubstr("rank 2 (node2, pid 102) is behind")));
  // Another group is no amends.
  EXPECT_THAT(AnalyseFlight({failed(0).Group("world/dp", all, 2),
                             failed(1).Group("w", all), late})
                  .findings,
              ElementsAre(HasSubstr("rank 2 (node2, pid 102) is behind")));
  // What they disagreed about either.
  const auto differs = [&](int number) {
    return again(Rank(number, 3)
                     .Group("world/dp:0", all, 1)
                     .Does(Sum(number), 1, State::kFailed));
  };
  EXPECT_THAT(AnalyseFlight({differs(0), differs(1), differs(2)}).findings,
              IsEmpty());
}

TEST(FlightAnalysisTest, WhoCalledLessBeforeItWasMadeAgainIsNotBehind) {
  const std::vector<int> both = {0, 1};
  EXPECT_THAT(AnalyseFlight(
                  {Rank(0, 2)
                       .Does(Sum(), 1)
                       .Does(Sum(), 2)
                       .Group("world", both, 2)
                       .Says("x"),
                   Rank(1, 2).Does(Sum(), 1).Group("world", both, 2).Says("x")})
                  .findings,
              ElementsAre(HasSubstr("all called the same")));
}

TEST(FlightAnalysisTest, ADumpThatWasAskedForIsNoFailure) {
  const FlightAnalysis analysis = AnalyseFlight(
      {Rank(0, 2).Does(Sum(), 1).IsAsked("a look"), Rank(1, 2).Does(Sum(), 1)});
  EXPECT_THAT(analysis.findings, IsEmpty());
  EXPECT_THAT(analysis.reasons,
              ElementsAre(Pair("rank 0", "a dump was asked for: a look")));
}

// To and from each of `peers`.
Operation Swap(const std::vector<int>& peers, int64_t count = 4) {
  std::vector<PointToPoint> messages;
  for (const int peer : peers) {
    messages.push_back(BatchSend(nullptr, count, DType::kInt8, peer));
    messages.push_back(BatchReceive(nullptr, count, DType::kInt8, peer));
  }
  return Batch(messages);
}

TEST(FlightAnalysisTest, ABatchNobodyAnswers) {
  // Around a ring of three, of which one does not come.
  const FlightAnalysis analysis =
      AnalyseFlight({Rank(0, 3).Does(Swap({1, 2}), 0, State::kIn), Rank(1, 3),
                     Rank(2, 3).Does(Swap({1, 0}), 0, State::kIn)});
  EXPECT_THAT(
      analysis.findings,
      ElementsAre("rank 1 (node1, pid 101) did not answer batch after #0 of 4 "
                  "messages, 16 int8 (16 bytes) of rank 0 in group world; it "
                  "called nothing at all"));
  EXPECT_EQ(analysis.groups, 1) << "one that only messages went through";
}

TEST(FlightAnalysisTest, WhoHasDoneItsPartOfABatchIsNotToBlame) {
  EXPECT_THAT(
      AnalyseFlight({Rank(0, 4).Does(Swap({1, 2}), 3, State::kIn),
                     Rank(1, 4).Does(Swap({0}), 3), Rank(2, 4), Rank(3, 4)})
          .findings,
      ElementsAre(HasSubstr("rank 2 (node2, pid 102) did not answer batch")));
  // Where that cannot be told, all who are in nothing.
  EXPECT_THAT(AnalyseFlight({Rank(0, 3).Does(Swap({1, 2}), 3, State::kIn),
                             Rank(1, 3).Does(Swap({0}), 3),
                             Rank(2, 3).Does(Swap({0}), 3)})
                  .findings,
              ElementsAre(HasSubstr("rank 1 (node1"), HasSubstr("rank 2 (no")));
}

TEST(FlightAnalysisTest, AMessageThatDoesNotFitIsNotUnanswered) {
  FlightLog refused = Rank(0, 2).Does(Swap({1}), 0, State::kFailed).Says("x");
  refused.records[0].status = absl::StatusCode::kFailedPrecondition;
  EXPECT_THAT(
      AnalyseFlight({refused, Rank(1, 2).Does(Swap({0}, 5), 0).Closes()})
          .findings,
      ElementsAre("rank 0 (node0, pid 100) and its peers disagree about batch "
                  "after #0 of 2 messages, 8 int8 (8 bytes) in group world: "
                  "see what it said"));
}

TEST(FlightAnalysisTest, ABatchWithManyIsWithEverybody) {
  std::vector<FlightLog> logs;
  std::vector<int> others;
  for (int rank = 1; rank < 10; rank++) others.push_back(rank);
  logs.push_back(Rank(0, 10).Does(Swap(others), 0, State::kIn));
  for (const int rank : others) {
    logs.push_back(Rank(rank, 10).Does(
        Swap({0}), 0, rank == 4 ? State::kFailed : State::kDone));
  }
  logs[7] = Rank(7, 10);
  EXPECT_THAT(AnalyseFlight(logs).findings,
              ElementsAre(HasSubstr("rank 7 (node7, pid 107) did not answer")));
}

TEST(FlightAnalysisTest, MembersThatAreTooManyToBeToldAreThoseOfTheLogs) {
  const auto unnamed = [](int rank) {
    FlightLog log = Rank(rank, 2);
    log.groups[0].members.clear();
    return log;
  };
  FlightLog waits = unnamed(0);
  waits.records =
      static_cast<FlightLog>(Rank(0, 2).Does(Barrier(), 1, State::kIn)).records;
  EXPECT_THAT(AnalyseFlight({waits, unnamed(1)}).findings,
              ElementsAre(HasSubstr("rank 1 (node1, pid 101) is behind")));
}

TEST(FlightAnalysisTest, WhatMayDifferIsOneOperation) {
  const auto parts = [](int64_t a, int64_t b) {
    return AllToAll(nullptr, nullptr, {a, b}, {a, b}, DType::kInt8);
  };
  EXPECT_THAT(
      AnalyseFlight({Rank(0, 2).Does(parts(1, 2), 5, State::kFailed),
                     Rank(1, 2).Does(parts(2, 9), 5, State::kFailed)})
          .findings,
      ElementsAre("ranks 0-1 were in all_to_all #5 in group world, and nobody "
                  "is behind: what carries the data is slow or broken, or what "
                  "they send is not what their peers expect"));
  EXPECT_THAT(AnalyseFlight({Rank(0, 2).Does(Swap({1}, 1), 5, State::kFailed),
                             Rank(1, 2).Does(Swap({0}, 2), 5, State::kFailed)})
                  .findings,
              ElementsAre(HasSubstr("ranks 0-1 were in batch after #5 in")));
}

TEST(FlightAnalysisTest, TwoThatSendToEachOtherAreACircle) {
  EXPECT_THAT(
      AnalyseFlight(
          {Rank(0, 2).Does(Send(nullptr, 4, DType::kInt8, 1), 1, State::kIn),
           Rank(1, 2).Does(Send(nullptr, 4, DType::kInt8, 0), 1, State::kIn)})
          .findings,
      ElementsAre(HasSubstr("ranks wait for each other")));
}

TEST(FlightAnalysisTest, AMessageNobodyAnswers) {
  EXPECT_THAT(
      AnalyseFlight(
          {Rank(0, 2)
               .Does(Barrier(), 1)
               .Does(Receive(nullptr, 4, DType::kInt8, 1), 1, State::kIn),
           Rank(1, 2).Does(Barrier(), 1)})
          .findings,
      ElementsAre(AllOf(HasSubstr("rank 1 (node1, pid 101) did not answer "
                                  "receive after #1 of 4 int8"),
                        HasSubstr("of rank 0"))));
}

}  // namespace
}  // namespace muster
