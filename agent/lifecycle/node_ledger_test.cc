#include "agent/lifecycle/node_ledger.h"

#include <chrono>
#include <initializer_list>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::agent {
namespace {

using rendezvous::Activity;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::Pair;

class NodeLedgerTest : public testing::Test {
 protected:
  void Wait(Duration time) { now_ += time; }
  void Step(int64_t step) {
    ProgressMessage message{.alive = true};
    message.step = step;
    ledger_.Hear(now_, message);
  }
  // Reports the steps from `first` to `last`, each after `pause`.
  void Steps(int64_t first, int64_t last, Duration pause) {
    for (int64_t step = first; step <= last; ++step) {
      Wait(pause);
      Step(step);
    }
  }
  void Checkpoint(bool begins) {
    ProgressMessage message{.alive = true};
    message.checkpoint = begins;
    ledger_.Hear(now_, message);
  }
  Duration Spent(Activity activity) const {
    return ledger_.Read(now_).ledger[activity];
  }
  // Checks that the times of all activities add up to the node's whole time.
  void ExpectSums() const {
    EXPECT_EQ(ledger_.Read(now_).ledger.total(), now_ - began_);
  }
  std::vector<std::pair<int, Duration>> Losses() const {
    std::vector<std::pair<int, Duration>> losses;
    for (const auto& loss : ledger_.Read(now_).losses) {
      losses.emplace_back(loss.round, loss.lost);
    }
    return losses;
  }

  const Instant began_ = Instant(seconds(100));
  Instant now_ = began_;
  NodeLedger ledger_{began_};
};

TEST_F(NodeLedgerTest, TimeBelongsToTheActivityThatWasEntered) {
  Wait(seconds(3));
  ledger_.Enter(now_, Activity::kStarting);
  Wait(seconds(2));
  ledger_.Enter(now_, Activity::kStarting);
  Wait(seconds(1));
  EXPECT_EQ(Spent(Activity::kWaiting), seconds(3));
  EXPECT_EQ(Spent(Activity::kStarting), seconds(3));
  ExpectSums();
}

TEST_F(NodeLedgerTest, WorkersThatReportNothingRun) {
  ledger_.Train(now_, -1);
  Wait(seconds(50));
  ledger_.Enter(now_, Activity::kStopping);
  EXPECT_EQ(Spent(Activity::kRunning), seconds(50));
  ExpectSums();
}

TEST_F(NodeLedgerTest, TimeBeforeTheFirstStepIsInitialising) {
  ledger_.Train(now_, -1);
  Wait(seconds(20));
  EXPECT_EQ(Spent(Activity::kRunning), seconds(20));
  Step(0);
  EXPECT_EQ(Spent(Activity::kRunning), Duration::zero());
  EXPECT_EQ(Spent(Activity::kInitialising), seconds(20));
  Steps(1, 5, seconds(1));
  EXPECT_EQ(Spent(Activity::kProductive), seconds(5));
  ExpectSums();
}

TEST_F(NodeLedgerTest, WorkersThatReportWithoutAStepInitialise) {
  ledger_.Train(now_, -1);
  Checkpoint(false);
  Wait(seconds(20));
  ledger_.Enter(now_, Activity::kStopping);
  EXPECT_EQ(Spent(Activity::kInitialising), seconds(20));
}

TEST_F(NodeLedgerTest, StepsOfAnEarlierRoundAreRecomputed) {
  ledger_.Train(now_, 12);
  Steps(10, 15, seconds(1));
  EXPECT_EQ(Spent(Activity::kInitialising), seconds(1));
  EXPECT_EQ(Spent(Activity::kRecomputing), seconds(2));
  EXPECT_EQ(Spent(Activity::kProductive), seconds(3));
  ExpectSums();
}

TEST_F(NodeLedgerTest, AStepOfASecondWorkerIsNoOtherStep) {
  ledger_.Train(now_, 2);
  Step(1);
  Wait(seconds(1));
  Step(2);
  Wait(milliseconds(10));
  Step(2);
  Wait(milliseconds(990));
  Step(3);
  EXPECT_EQ(Spent(Activity::kRecomputing), seconds(1));
  EXPECT_EQ(Spent(Activity::kProductive), seconds(1));
}

TEST_F(NodeLedgerTest, APauseMuchLongerThanUsualIsStalled) {
  ledger_.Train(now_, -1);
  Steps(1, 21, milliseconds(200));
  Wait(seconds(2));
  EXPECT_EQ(Spent(Activity::kStalled), Duration::zero());
  Wait(milliseconds(1));
  EXPECT_EQ(Spent(Activity::kStalled), milliseconds(1801));
  Wait(seconds(5));
  Step(22);
  EXPECT_EQ(Spent(Activity::kStalled), milliseconds(6801));
  EXPECT_EQ(Spent(Activity::kProductive), milliseconds(21 * 200));
  // The stall of 7 s does not change the usual length of a pause (200 ms). So
  // the next long pause counts as stalled as well.
  Wait(milliseconds(2001));
  EXPECT_EQ(Spent(Activity::kStalled), milliseconds(6801 + 1801));
  ExpectSums();
}

TEST_F(NodeLedgerTest, ShortPausesAreNoStalls) {
  ledger_.Train(now_, -1);
  Steps(1, 20, milliseconds(1));
  Wait(seconds(1));
  Step(21);
  EXPECT_EQ(Spent(Activity::kStalled), Duration::zero());
}

TEST_F(NodeLedgerTest, ACheckpointLastsUntilItsEndOrAStep) {
  ledger_.Train(now_, -1);
  Steps(1, 5, seconds(1));
  Checkpoint(true);
  Wait(seconds(30));
  Checkpoint(false);
  Steps(6, 7, seconds(1));
  EXPECT_EQ(Spent(Activity::kCheckpointing), seconds(30));
  Checkpoint(true);
  Wait(seconds(20));
  EXPECT_EQ(Spent(Activity::kCheckpointing), seconds(50));
  Step(8);
  Wait(seconds(1));
  EXPECT_EQ(Spent(Activity::kCheckpointing), seconds(50));
  EXPECT_EQ(Spent(Activity::kProductive), seconds(7));
  EXPECT_EQ(Spent(Activity::kStalled), Duration::zero());
  ExpectSums();
}

TEST_F(NodeLedgerTest, TimeUntilANewStepIsLostToTheEndOfTheRound) {
  ledger_.Train(now_, -1);
  Steps(1, 10, seconds(1));
  ledger_.Break(now_, 3);
  ledger_.Enter(now_, Activity::kStopping);
  Wait(seconds(2));
  ledger_.Enter(now_, Activity::kRecovering);
  Wait(seconds(3));
  ledger_.Enter(now_, Activity::kStarting);
  Wait(seconds(1));
  ledger_.Train(now_, 10);
  Wait(seconds(4));
  Step(7);
  Steps(8, 10, seconds(1));
  EXPECT_THAT(Losses(), ElementsAre(Pair(3, seconds(13))));
  Steps(11, 20, seconds(1));
  ledger_.Enter(now_, Activity::kStopping);
  Wait(seconds(9));
  EXPECT_THAT(Losses(), ElementsAre(Pair(3, seconds(13))));
  ExpectSums();
}

TEST_F(NodeLedgerTest, TheStallBeforeAHangIsLostToIt) {
  ledger_.Train(now_, -1);
  Steps(1, 10, seconds(1));
  Wait(seconds(61));
  ledger_.Break(now_, 1);
  EXPECT_THAT(Losses(), ElementsAre(Pair(1, seconds(60))));
  EXPECT_EQ(Spent(Activity::kStalled), seconds(60));
}

TEST_F(NodeLedgerTest, ALongCheckpointIsNoStall) {
  ledger_.Train(now_, -1);
  Steps(1, 10, seconds(1));
  Checkpoint(true);
  Wait(seconds(61));
  ledger_.Break(now_, 1);
  EXPECT_THAT(Losses(), ElementsAre(Pair(1, Duration::zero())));
  EXPECT_EQ(Spent(Activity::kCheckpointing), seconds(61));
}

TEST_F(NodeLedgerTest, AnEndDuringTheRecoveryTakesWhatFollows) {
  ledger_.Break(now_, 1);
  ledger_.Enter(now_, Activity::kRecovering);
  Wait(seconds(1));
  ledger_.Enter(now_, Activity::kStarting);
  Wait(seconds(2));
  ledger_.Break(now_, 2);
  ledger_.Enter(now_, Activity::kRecovering);
  Wait(seconds(4));
  EXPECT_THAT(Losses(), ElementsAre(Pair(1, seconds(3)), Pair(2, seconds(4))));
}

TEST_F(NodeLedgerTest, ARoundWithoutReportsEndsTheRecovery) {
  ledger_.Break(now_, 1);
  ledger_.Enter(now_, Activity::kStarting);
  Wait(seconds(2));
  ledger_.Train(now_, -1);
  Wait(seconds(5));
  EXPECT_THAT(Losses(), ElementsAre(Pair(1, seconds(2))));
}

TEST_F(NodeLedgerTest, TheNewestLossesAreKept) {
  for (int round = 1; round <= 6; ++round) ledger_.Break(now_, round);
  EXPECT_THAT(
      Losses(),
      ElementsAre(Pair(3, Duration::zero()), Pair(4, Duration::zero()),
                  Pair(5, Duration::zero()), Pair(6, Duration::zero())));
}

}  // namespace
}  // namespace muster::agent
