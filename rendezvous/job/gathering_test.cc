#include "rendezvous/job/gathering.h"

#include <gtest/gtest.h>

#include <chrono>

namespace muster::rendezvous {
namespace {

using Decision = Gathering::Decision;
using std::chrono::seconds;

Instant At(int second) { return Instant(seconds(second)); }

// A job of 2 to 4 nodes whose gathering phase begins at second 0.
class GatheringTest : public ::testing::Test {
 protected:
  GatheringTest() {
    spec_.min_nodes = 2;
    spec_.max_nodes = 4;
    spec_.last_call = seconds(4);
    spec_.join_timeout = seconds(60);
    spec_.rejoin_timeout = seconds(20);
    spec_.wait_for_replacement = seconds(10);
  }

  // Begins to gather nodes for a later round. The previous round had four
  // nodes.
  void Restart() {
    gathering_.End();
    gathering_.Begin();
    nodes_.previous_world = 4;
  }

  Decision Decide(int second) {
    return gathering_.Decide(At(second), spec_, nodes_, clock_);
  }
  // Returns the decision at `second` if `present` nodes are present and ready.
  Decision DecideWith(int present, int second) {
    nodes_.present = nodes_.ready = present;
    return Decide(second);
  }
  Instant NextDeadline(int second) const {
    return gathering_.NextDeadline(At(second), spec_, clock_);
  }

  JobSpec spec_;
  PhaseClock clock_;
  Gathering gathering_;
  Gathering::Nodes nodes_;
};

TEST_F(GatheringTest, AFullWorldFormsAtOnce) {
  EXPECT_EQ(DecideWith(3, 0), Decision::kWait);
  EXPECT_EQ(DecideWith(4, 1), Decision::kForm);
}

TEST_F(GatheringTest, NodesThatHaveBeenWaitedForGetNoLastCall) {
  gathering_.SkipLastCall();
  EXPECT_EQ(DecideWith(1, 0), Decision::kWait);
  EXPECT_EQ(DecideWith(2, 1), Decision::kForm);
}

TEST_F(GatheringTest, AnAwaitedAnswerDelaysTheWorld) {
  gathering_.AwaitAnswers(At(0), At(3));
  nodes_.unanswered = 1;
  EXPECT_EQ(DecideWith(4, 1), Decision::kWait);
  EXPECT_EQ(NextDeadline(1), At(3));
  nodes_.unanswered = 0;
  EXPECT_EQ(Decide(2), Decision::kForm);
}

TEST_F(GatheringTest,
       AnAwaitedAnswerThatDoesNotComeDelaysTheWorldForALimitedTime) {
  gathering_.AwaitAnswers(At(0), At(3));
  nodes_.unanswered = 1;
  EXPECT_EQ(DecideWith(4, 2), Decision::kWait);
  EXPECT_EQ(Decide(3), Decision::kForm);
}

TEST_F(GatheringTest, ANodeWhoseAnswerIsNotAwaitedDelaysNoWorld) {
  nodes_.unanswered = 1;
  EXPECT_EQ(DecideWith(4, 1), Decision::kForm);
}

TEST_F(GatheringTest, AwaitedAnswersPostponeTheJoinTimeout) {
  gathering_.AwaitAnswers(At(55), At(65));
  nodes_.unanswered = 2;
  EXPECT_EQ(DecideWith(0, 61), Decision::kWait);
  EXPECT_EQ(NextDeadline(61), At(65));
  EXPECT_EQ(gathering_.Limit(spec_, clock_), At(65));
  EXPECT_EQ(Decide(65), Decision::kTimeOut);
}

TEST_F(GatheringTest, AwaitedAnswersPostponeTheRejoinTimeout) {
  Restart();
  EXPECT_EQ(DecideWith(1, 0), Decision::kWait);
  gathering_.AwaitAnswers(At(15), At(25));
  EXPECT_EQ(DecideWith(1, 24), Decision::kWait);
  EXPECT_EQ(DecideWith(1, 25), Decision::kGiveUp);
}

TEST_F(GatheringTest, TheLastCallGoesOnWhileAnswersAreAwaited) {
  EXPECT_EQ(DecideWith(2, 10), Decision::kWait);
  gathering_.AwaitAnswers(At(11), At(13));
  nodes_.unanswered = 2;
  EXPECT_EQ(DecideWith(0, 11), Decision::kWait);
  nodes_.unanswered = 1;
  EXPECT_EQ(DecideWith(1, 12), Decision::kWait);
  nodes_.unanswered = 0;
  EXPECT_EQ(DecideWith(2, 12), Decision::kWait);
  EXPECT_EQ(NextDeadline(12), At(13));
  EXPECT_EQ(Decide(13), Decision::kWait);
  EXPECT_EQ(NextDeadline(13), At(14));
  EXPECT_EQ(Decide(14), Decision::kForm);
}

// AwaitAnswers restarts the last call (the wait for more nodes once min_nodes
// are ready), because reports of nodes that have joined may still be unread.
TEST_F(GatheringTest, TheLastCallBeginsAnewWhenAnswersAreAskedFor) {
  EXPECT_EQ(DecideWith(2, 0), Decision::kWait);
  gathering_.AwaitAnswers(At(30), At(40));
  EXPECT_EQ(DecideWith(2, 33), Decision::kWait);
  EXPECT_EQ(NextDeadline(33), At(34));
  EXPECT_EQ(Decide(34), Decision::kForm);
}

TEST_F(GatheringTest, ALastCallThatBeginsAnewEndsWithTheWaitForAnswers) {
  spec_.last_call = seconds(20);
  EXPECT_EQ(DecideWith(2, 0), Decision::kWait);
  gathering_.AwaitAnswers(At(30), At(40));
  EXPECT_EQ(DecideWith(2, 39), Decision::kWait);
  EXPECT_EQ(Decide(40), Decision::kForm);
}

TEST_F(GatheringTest, TooFewAwaitedAnswersEndTheLastCall) {
  spec_.last_call = seconds(10);
  EXPECT_EQ(DecideWith(2, 10), Decision::kWait);
  gathering_.AwaitAnswers(At(11), At(15));
  nodes_.unanswered = 1;
  EXPECT_EQ(DecideWith(0, 11), Decision::kWait);
  nodes_.unanswered = 0;
  EXPECT_EQ(DecideWith(2, 12), Decision::kWait);
  EXPECT_EQ(Decide(21), Decision::kWait);
  EXPECT_EQ(Decide(22), Decision::kForm);
}

TEST_F(GatheringTest, TheEndOfTheWaitForAnswersEndsTheLastCall) {
  EXPECT_EQ(DecideWith(2, 10), Decision::kWait);
  gathering_.AwaitAnswers(At(11), At(12));
  nodes_.unanswered = 2;
  EXPECT_EQ(DecideWith(0, 12), Decision::kWait);
  nodes_.unanswered = 0;
  EXPECT_EQ(DecideWith(2, 13), Decision::kWait);
  EXPECT_EQ(Decide(16), Decision::kWait);
  EXPECT_EQ(Decide(17), Decision::kForm);
}

TEST_F(GatheringTest, TheLastCallBeginsOnceEnoughAreReady) {
  EXPECT_EQ(DecideWith(1, 0), Decision::kWait);
  EXPECT_EQ(NextDeadline(0), At(60));
  EXPECT_EQ(DecideWith(2, 10), Decision::kWait);
  EXPECT_EQ(NextDeadline(10), At(14));
  EXPECT_EQ(DecideWith(3, 13), Decision::kWait);
  EXPECT_EQ(Decide(14), Decision::kForm);
}

TEST_F(GatheringTest, ANodeThatGoesEndsTheLastCall) {
  EXPECT_EQ(DecideWith(2, 10), Decision::kWait);
  EXPECT_EQ(DecideWith(1, 12), Decision::kWait);
  EXPECT_EQ(DecideWith(2, 13), Decision::kWait);
  EXPECT_EQ(Decide(16), Decision::kWait);
  EXPECT_EQ(Decide(17), Decision::kForm);
}

TEST_F(GatheringTest, ChecksDelayTheWorldUntilTheJoinTimeout) {
  nodes_.being_checked = 1;
  EXPECT_EQ(DecideWith(2, 0), Decision::kWait);
  EXPECT_EQ(Decide(59), Decision::kWait);
  EXPECT_EQ(Decide(60), Decision::kForm);
}

TEST_F(GatheringTest, TooFewTimeOut) {
  EXPECT_EQ(DecideWith(1, 59), Decision::kWait);
  EXPECT_EQ(Decide(60), Decision::kTimeOut);
}

TEST_F(GatheringTest, APostponedTimeoutExpiresLater) {
  clock_.Postpone(At(58), gathering_.Limit(spec_, clock_), seconds(5));
  EXPECT_EQ(NextDeadline(58), At(63));
  EXPECT_EQ(DecideWith(1, 62), Decision::kWait);
  EXPECT_EQ(Decide(63), Decision::kTimeOut);
}

TEST_F(GatheringTest, ALaterGatheringWaitsForAReplacementOnly) {
  EXPECT_TRUE(gathering_.first());
  Restart();
  EXPECT_FALSE(gathering_.first());
  EXPECT_EQ(DecideWith(3, 1), Decision::kWait);
  EXPECT_EQ(NextDeadline(1), At(10));
  EXPECT_EQ(Decide(9), Decision::kWait);
  EXPECT_EQ(Decide(10), Decision::kForm);
}

TEST_F(GatheringTest, ALaterGatheringOfAsManyFormsAtOnce) {
  Restart();
  nodes_.previous_world = 3;
  EXPECT_EQ(DecideWith(3, 1), Decision::kForm);
}

TEST_F(GatheringTest, ABrokenStreamDelaysALaterGathering) {
  Restart();
  nodes_.broken = 1;
  EXPECT_EQ(DecideWith(3, 11), Decision::kWait);
  nodes_.broken = 0;
  EXPECT_EQ(Decide(12), Decision::kForm);
}

TEST_F(GatheringTest, ALaterGatheringOfTooFewIsGivenUp) {
  Restart();
  EXPECT_EQ(DecideWith(1, 5), Decision::kWait);
  EXPECT_EQ(NextDeadline(5), At(25));
  EXPECT_EQ(Decide(24), Decision::kWait);
  EXPECT_EQ(Decide(25), Decision::kGiveUp);
}

TEST_F(GatheringTest, PresentNodesThatAreNotReadyAreNotGivenUp) {
  Restart();
  nodes_.present = 2;
  EXPECT_EQ(Decide(5), Decision::kWait);
  EXPECT_EQ(Decide(30), Decision::kWait);
}

TEST_F(GatheringTest, TheFirstGatheringIsNotGivenUp) {
  EXPECT_EQ(DecideWith(1, 5), Decision::kWait);
  EXPECT_EQ(Decide(30), Decision::kWait);
}

TEST_F(GatheringTest, BeginForgetsTheWaitsOfThePreviousGathering) {
  Restart();
  EXPECT_EQ(DecideWith(1, 5), Decision::kWait);
  gathering_.Begin();
  clock_.since = At(30);
  EXPECT_EQ(gathering_.Limit(spec_, clock_), At(90));
}

TEST(PhaseClockTest, PostponesANearLimitOnce) {
  PhaseClock clock;
  EXPECT_EQ(clock.Postponed(At(10)), At(10));
  // At second 8, this call would postpone the phase's time limit by 5 s, to
  // second 13. The limit, second 20, is later, so the call has no effect.
  clock.Postpone(At(8), At(20), seconds(5));
  EXPECT_EQ(clock.Postponed(At(20)), At(20));
  clock.Postpone(At(8), std::nullopt, seconds(5));
  EXPECT_EQ(clock.Postponed(At(10)), At(10));
  clock.Postpone(At(8), At(10), seconds(5));
  EXPECT_EQ(clock.Postponed(At(10)), At(13));
  EXPECT_EQ(clock.Postponed(At(20)), At(20));
  clock.Postpone(At(12), At(13), seconds(5));
  EXPECT_EQ(clock.Postponed(At(10)), At(13));
}

}  // namespace
}  // namespace muster::rendezvous
