// Tests of the moment at which clients that wait in a round's store are
// released.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/lifecycle/lifecycle_fixture.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LifecycleStore, AFailureHereReleasesOnceWithItsReason) {
  LifecycleFixture agent;
  agent.Run(1);
  EXPECT_THAT(agent.closed_stores, IsEmpty());
  agent.Fails(0);
  agent.Fails(1);
  agent.TellStop(1);
  EXPECT_THAT(agent.closed_stores, ElementsAre("exit code 3"));
}

TEST(LifecycleStore, AFailureElsewhereReleasesBeforeTheWorkersAreSignalled) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.TellStop(1);
  EXPECT_THAT(agent.closed_stores, ElementsAre("rank 0 on b: exit code 3"));
  ASSERT_EQ(agent.last_step().actions.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<CloseStore>(agent.last_step().actions[0]));
}

TEST(LifecycleStore, OthersAreReleasedWhenOurOwnWorkersAreDone) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Down(0);
  agent.Down(1);
  agent.Gone();
  ASSERT_EQ(agent.phase(), rendezvous::NodePhase::kSucceeded);
  EXPECT_THAT(agent.closed_stores, IsEmpty());
  agent.TellStop(1);
  EXPECT_THAT(agent.closed_stores, ElementsAre("rank 0 on b: exit code 3"));
}

// All nodes are there: their workers may need the store for a last checkpoint.
TEST(LifecycleStore, AnOrderlyStopKeepsTheStore) {
  LifecycleFixture agent;
  agent.Run(1);
  rendezvous::Directive directive =
      DirectiveOf(rendezvous::DirectiveKind::kStop);
  directive.stop = {.round = 1,
                    .signal = 15,
                    .grace = std::chrono::seconds(10),
                    .cause = rendezvous::StopCause::kAsked};
  agent.Tell(directive);
  EXPECT_THAT(agent.signals, ElementsAre(15));
  EXPECT_THAT(agent.closed_stores, IsEmpty());
}

TEST(LifecycleStore, AStopOfAnEarlierRoundDoesNotTouchThisOnes) {
  LifecycleFixture agent;
  agent.Run(2);
  agent.TellStop(1);
  EXPECT_THAT(agent.closed_stores, IsEmpty());
}

TEST(LifecycleStore, EachRoundIsReleasedAnew) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.TellStop(1);
  agent.Fails(0);
  agent.Fails(1);
  agent.Gone();
  agent.TellRun(2);
  agent.Up(0);
  agent.Fails(0);
  EXPECT_THAT(agent.closed_stores,
              ElementsAre("rank 0 on b: exit code 3", "exit code 3"));
}

TEST(LifecycleStore, AMemberThatIsToldToWaitHasLostItsRound) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.TellWait();
  EXPECT_THAT(agent.closed_stores, ElementsAre("1 of 2 nodes here"));
}

}  // namespace
}  // namespace muster::agent
