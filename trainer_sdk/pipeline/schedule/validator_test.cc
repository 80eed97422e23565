#include "trainer_sdk/pipeline/schedule/validator.h"

#include <algorithm>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/pipeline/schedule/generators.h"
#include "trainer_sdk/pipeline/schedule/lowering.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

PipelineSchedule Sound() {
  return *MakeSchedule(ScheduleKind::k1F1B, {2, 1, 3});
}

std::string Complaint(const PipelineSchedule& schedule) {
  return std::string(CheckComputations(schedule).message());
}

TEST(ValidatorTest, NothingIsWrongWithASoundOne) {
  EXPECT_TRUE(CheckComputations(Sound()).ok());
}

TEST(ValidatorTest, EveryActionMayBeMissedOrDoneTwice) {
  for (int rank = 0; rank < 2; ++rank) {
    for (size_t i = 0; i < Sound().ranks[rank].size(); ++i) {
      PipelineSchedule less = Sound();
      less.ranks[rank].erase(less.ranks[rank].begin() + i);
      EXPECT_THAT(Complaint(less), HasSubstr("lacks for micro-batch"));
      PipelineSchedule more = Sound();
      more.ranks[rank].push_back(more.ranks[rank][i]);
      EXPECT_THAT(Complaint(more), HasSubstr("for the second time"));
    }
  }
}

TEST(ValidatorTest, ABackwardBeforeItsForwardWaitsForEver) {
  PipelineSchedule schedule = Sound();
  std::swap(schedule.ranks[1][0], schedule.ranks[1][1]);
  EXPECT_THAT(Complaint(schedule),
              HasSubstr("wait for each other for ever: rank 0 at 0B0, rank 1 "
                        "at 1B0"));
}

TEST(ValidatorTest, RanksThatWaitInACircleAreNamed) {
  // A deadlock: rank 0 needs the gradient of micro-batch 0 before its second
  // forward pass, but rank 1 needs the output of that forward pass before it
  // computes this gradient.
  PipelineSchedule schedule{.shape = {2, 1, 2}, .ranks = {}};
  schedule.ranks = {{{0, ActionKind::kForward, 0},
                     {0, ActionKind::kBackward, 0},
                     {0, ActionKind::kForward, 1},
                     {0, ActionKind::kBackward, 1}},
                    {{1, ActionKind::kForward, 0},
                     {1, ActionKind::kForward, 1},
                     {1, ActionKind::kBackward, 0},
                     {1, ActionKind::kBackward, 1}}};
  EXPECT_THAT(Complaint(schedule), HasSubstr("rank 0 at 0B0, rank 1 at 1F1"));
}

TEST(ValidatorTest, AStageBelongsToItsRank) {
  PipelineSchedule schedule = Sound();
  schedule.ranks[0][0].stage = 1;
  EXPECT_THAT(Complaint(schedule), HasSubstr("that stage is on rank 1"));
  schedule.ranks[0][0].stage = 2;
  EXPECT_THAT(Complaint(schedule), HasSubstr("no such stage or micro-batch"));
  schedule.ranks[0][0] = {0, ActionKind::kForward, 3};
  EXPECT_THAT(Complaint(schedule), HasSubstr("no such stage or micro-batch"));
}

TEST(ValidatorTest, ABackwardIsWholeOrInTwoParts) {
  PipelineSchedule schedule =
      *MakeSchedule(ScheduleKind::kZeroBubble1P, {1, 1, 1});
  ASSERT_EQ(schedule.ranks[0].size(), 3u);
  PipelineSchedule both = schedule;
  both.ranks[0].push_back({0, ActionKind::kBackward, 0});
  EXPECT_THAT(Complaint(both), HasSubstr("both whole and in parts"));
  PipelineSchedule half = schedule;
  half.ranks[0].pop_back();
  EXPECT_THAT(Complaint(half), HasSubstr("the weights' part"));
  std::swap(schedule.ranks[0][1], schedule.ranks[0][2]);
  EXPECT_THAT(Complaint(schedule), HasSubstr("rank 0 at 0W0"));
}

TEST(ValidatorTest, AListForEachRank) {
  PipelineSchedule schedule = Sound();
  schedule.ranks.pop_back();
  EXPECT_THAT(Complaint(schedule), HasSubstr("1 lists of actions for 2 ranks"));
}

TEST(ValidatorTest, CommunicationIsForLoweredOnesOnly) {
  EXPECT_THAT(Complaint(*AddCommunication(Sound())),
              HasSubstr("communication in a schedule without"));
}

class Lowered : public testing::Test {
 protected:
  std::string Complaint() const {
    return std::string(CheckLowered(schedule_).message());
  }
  std::vector<Action>::iterator At(const Action& action) {
    std::vector<Action>& list =
        schedule_.ranks[schedule_.shape.RankOf(action.stage)];
    return std::find(list.begin(), list.end(), action);
  }
  void Remove(const Action& action) {
    schedule_.ranks[schedule_.shape.RankOf(action.stage)].erase(At(action));
  }

  PipelineSchedule schedule_ = *AddCommunication(Sound());
};

TEST_F(Lowered, IsSound) { EXPECT_EQ(Complaint(), ""); }

TEST_F(Lowered, EverySendAndReceiveIsNeeded) {
  const PipelineSchedule whole = schedule_;
  for (int rank = 0; rank < 2; ++rank) {
    for (size_t i = 0; i < whole.ranks[rank].size(); ++i) {
      if (!IsCommunication(whole.ranks[rank][i].kind)) continue;
      schedule_ = whole;
      schedule_.ranks[rank].erase(schedule_.ranks[rank].begin() + i);
      EXPECT_NE(Complaint(), "") << ToString(whole.ranks[rank][i]);
    }
  }
}

TEST_F(Lowered, SendBeforeItsComputationIsRefused) {
  std::swap(*At({0, ActionKind::kForward, 0}),
            *At({0, ActionKind::kSendForward, 0}));
  EXPECT_THAT(Complaint(), HasSubstr("0SEND_F0 is not behind it"));
}

TEST_F(Lowered, ReceiveAfterItsUseIsRefused) {
  Remove({1, ActionKind::kRecvForward, 0});
  schedule_.ranks[1].push_back({1, ActionKind::kRecvForward, 0});
  EXPECT_THAT(Complaint(), HasSubstr("1RECV_F0 comes only after it"));
}

TEST_F(Lowered, ReceivesHaveTheOrderOfTheSends) {
  // Rank 0 sends message 0 before message 1. Let rank 1 post the receive of
  // message 1 first. Each receive would then get the wrong message.
  Remove({1, ActionKind::kRecvForward, 0});
  Remove({1, ActionKind::kRecvForward, 1});
  schedule_.ranks[1].insert(
      schedule_.ranks[1].begin(),
      {{1, ActionKind::kRecvForward, 1}, {1, ActionKind::kRecvForward, 0}});
  EXPECT_THAT(Complaint(),
              HasSubstr("message 0 from rank 0 to rank 1: sent is 0SEND_F0, "
                        "received as 0SEND_F1"));
}

TEST_F(Lowered, UnusedSendIsRefused) {
  schedule_.ranks[1].push_back({1, ActionKind::kSendForward, 0});
  EXPECT_THAT(Complaint(), HasSubstr("some are of no use"));
}

TEST_F(Lowered, ASendBehindWhatWaitsForItIsADeadlock) {
  // Move the send of rank 0's first output after rank 0's backward passes. This
  // is a deadlock: rank 0 waits for a gradient from rank 1, and rank 1 computes
  // this gradient only after it has received the output.
  Remove({0, ActionKind::kSendForward, 0});
  schedule_.ranks[0].push_back({0, ActionKind::kSendForward, 0});
  EXPECT_THAT(Complaint(), HasSubstr("wait for each other for ever: rank 0 at "
                                     "0B0, rank 1 at 1F0"));
}

}  // namespace
}  // namespace muster
