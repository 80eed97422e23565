// Tests AnalyseFlight with sends, receives and batches between ranks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_analysis.h"
#include "trainer_sdk/flight_recorder/rank_log.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using State = RankLog::State;

// Makes a batch with one send to and one receive from each of `peers`.
Operation Swap(const std::vector<int>& peers, int64_t count = 4) {
  std::vector<PointToPoint> messages;
  for (const int peer : peers) {
    messages.push_back(BatchSend(nullptr, count, DType::kInt8, peer));
    messages.push_back(BatchReceive(nullptr, count, DType::kInt8, peer));
  }
  return Batch(messages);
}

TEST(FlightMessagesTest, RankThatWaitsForAMessageIsNotBlamed) {
  const Operation from_2 = Receive(nullptr, 4, DType::kInt8, 2);
  EXPECT_THAT(
      AnalyseFlight({RankLog(0, 3).Does(Barrier(), 1, State::kIn),
                     RankLog(1, 3).Does(from_2, 0, State::kIn), RankLog(2, 3)})
          .findings,
      ElementsAre(HasSubstr("rank 2 (node2, pid 102) is behind")));
}

TEST(FlightMessagesTest, ButNotWhoIsInWhatTheOthersHaveDone) {
  const Operation from_1 = Receive(nullptr, 4, DType::kInt8, 1);
  EXPECT_THAT(
      AnalyseFlight(
          {RankLog(0, 2).Does(Barrier(), 1).Does(from_1, 1, State::kIn),
           RankLog(1, 2).Does(Barrier(), 1, State::kIn)})
          .findings,
      ElementsAre(AllOf(HasSubstr("rank 1 (node1, pid 101) did not answer"),
                        HasSubstr("its last was barrier #1 in group world, in "
                                  "it for 0.5 s"))));
}

TEST(FlightMessagesTest, ABatchNobodyAnswers) {
  // Three ranks exchange messages in a ring, but rank 1 does not call the
  // operation.
  const FlightAnalysis analysis = AnalyseFlight(
      {RankLog(0, 3).Does(Swap({1, 2}), 0, State::kIn), RankLog(1, 3),
       RankLog(2, 3).Does(Swap({1, 0}), 0, State::kIn)});
  EXPECT_THAT(
      analysis.findings,
      ElementsAre("rank 1 (node1, pid 101) did not answer batch after #0 of 4 "
                  "messages, 16 int8 (16 bytes) of rank 0 in group world; it "
                  "called nothing at all"));
  EXPECT_EQ(analysis.groups, 1) << "one that only messages went through";
}

TEST(FlightMessagesTest, RankThatAnsweredTheBatchIsNotBlamed) {
  EXPECT_THAT(
      AnalyseFlight({RankLog(0, 4).Does(Swap({1, 2}), 3, State::kIn),
                     RankLog(1, 4).Does(Swap({0}), 3), RankLog(2, 4),
                     RankLog(3, 4)})
          .findings,
      ElementsAre(HasSubstr("rank 2 (node2, pid 102) did not answer batch")));
  // Rank 0 waits in a batch of messages with ranks 1 and 2. In each case below,
  // rank 2 called something else: messages with another sequence number, in
  // another group or with another rank, or a collective. So rank 2 must be
  // blamed.
  const std::vector<int> both = {0, 2};
  for (const RankLog& other :
       {RankLog(2, 3).Does(Swap({0}), 2),
        RankLog(2, 3).Group("pair", both).Does(Swap({0}), 3, State::kDone, 1),
        RankLog(2, 3).Does(Swap({1}), 3),
        RankLog(2, 3).Does(Broadcast(nullptr, nullptr, 4, DType::kInt8, 0),
                           3)}) {
    EXPECT_THAT(AnalyseFlight({RankLog(0, 3).Does(Swap({1, 2}), 3, State::kIn),
                               RankLog(1, 3).Does(Swap({0}), 3), other})
                    .findings,
                ElementsAre(HasSubstr("rank 2 (node2, pid 102) did not")));
  }
  // Rank 0 waits in a batch of messages with ranks 1 and 2. Both have finished
  // their batch with rank 0, so the logs do not show for which of them rank 0
  // waits. Both must be named.
  EXPECT_THAT(AnalyseFlight({RankLog(0, 3).Does(Swap({1, 2}), 3, State::kIn),
                             RankLog(1, 3).Does(Swap({0}), 3),
                             RankLog(2, 3).Does(Swap({0}), 3)})
                  .findings,
              ElementsAre(HasSubstr("rank 1 (node1"), HasSubstr("rank 2 (no")));
}

TEST(FlightMessagesTest, AMessageThatDoesNotFitIsNotUnanswered) {
  FlightLog refused =
      RankLog(0, 2).Does(Swap({1}), 0, State::kFailed).Says("x");
  refused.records[0].status = absl::StatusCode::kFailedPrecondition;
  EXPECT_THAT(
      AnalyseFlight({refused, RankLog(1, 2).Does(Swap({0}, 5), 0).Closes()})
          .findings,
      ElementsAre("rank 0 (node0, pid 100) and its peers disagree about batch "
                  "after #0 of 2 messages, 8 int8 (8 bytes) in group world: "
                  "see what it said"));
}

TEST(FlightMessagesTest, ABatchWithManyIsWithEverybody) {
  std::vector<FlightLog> logs;
  std::vector<int> others;
  for (int rank = 1; rank < 10; rank++) others.push_back(rank);
  logs.push_back(RankLog(0, 10).Does(Swap(others), 0, State::kIn));
  for (const int rank : others) {
    logs.push_back(RankLog(rank, 10).Does(
        Swap({0}), 0, rank == 4 ? State::kFailed : State::kDone));
  }
  logs[7] = RankLog(7, 10);
  EXPECT_THAT(AnalyseFlight(logs).findings,
              ElementsAre(HasSubstr("rank 7 (node7, pid 107) did not answer")));
}

TEST(FlightMessagesTest, AllToAllCountsMayDiffer) {
  const auto parts = [](int64_t a, int64_t b) {
    return AllToAll(nullptr, nullptr, {a, b}, {a, b}, DType::kInt8);
  };
  EXPECT_THAT(
      AnalyseFlight({RankLog(0, 2).Does(parts(1, 2), 5, State::kFailed),
                     RankLog(1, 2).Does(parts(2, 9), 5, State::kFailed)})
          .findings,
      ElementsAre(
          "ranks 0-1 were in all_to_all #5 in group world, and nobody "
          "is behind: what carries the data is slow or broken, or one of "
          "them was stopped inside it, or what they send is not what "
          "their peers expect"));
  EXPECT_THAT(
      AnalyseFlight({RankLog(0, 2).Does(Swap({1}, 1), 5, State::kFailed),
                     RankLog(1, 2).Does(Swap({0}, 2), 5, State::kFailed)})
          .findings,
      ElementsAre(HasSubstr("ranks 0-1 were in batch after #5 in")));
}

TEST(FlightMessagesTest, TwoThatSendToEachOtherAreACircle) {
  EXPECT_THAT(
      AnalyseFlight(
          {RankLog(0, 2).Does(Send(nullptr, 4, DType::kInt8, 1), 1, State::kIn),
           RankLog(1, 2).Does(Send(nullptr, 4, DType::kInt8, 0), 1,
                              State::kIn)})
          .findings,
      ElementsAre(HasSubstr("ranks wait for each other")));
}

TEST(FlightMessagesTest, AMessageNobodyAnswers) {
  EXPECT_THAT(
      AnalyseFlight(
          {RankLog(0, 2)
               .Does(Barrier(), 1)
               .Does(Receive(nullptr, 4, DType::kInt8, 1), 1, State::kIn),
           RankLog(1, 2).Does(Barrier(), 1)})
          .findings,
      ElementsAre(AllOf(HasSubstr("rank 1 (node1, pid 101) did not answer "
                                  "receive after #1 of 4 int8"),
                        HasSubstr("of rank 0"))));
}

}  // namespace
}  // namespace muster
