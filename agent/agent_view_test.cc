#include "agent/agent_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr Instant kNow{hours(1)};

AgentState Waiting() {
  AgentState state;
  state.connected = true;
  state.reached = true;
  state.turned = kNow;
  return state;
}

std::string Why(const absl::Status& status) {
  return std::string(status.message());
}

TEST(AgentState, IsReadyWhileItWaitsFitAndConnected) {
  EXPECT_TRUE(IsReady(Waiting()).ok());
  AgentState state = Waiting();
  state.connected = false;
  EXPECT_THAT(Why(IsReady(state)), HasSubstr("not connected"));
  state = Waiting();
  state.health = rendezvous::Health::kUnchecked;
  EXPECT_THAT(Why(IsReady(state)), HasSubstr("have not ended"));
  state.health = rendezvous::Health::kUnhealthy;
  state.unhealthy = "disk full";
  EXPECT_EQ(Why(IsReady(state)), "unhealthy: disk full");
}

// An agent that runs a round is ready even if its last health check failed,
// because a failed check has no effect until the round ends. A lost connection
// to the coordinator has no effect on readiness either.
TEST(AgentState, IsReadyWhileItHasAWorld) {
  AgentState state;
  state.phase = rendezvous::NodePhase::kRunning;
  state.health = rendezvous::Health::kUnhealthy;
  EXPECT_TRUE(IsReady(state).ok());
  state.phase = rendezvous::NodePhase::kSucceeded;
  EXPECT_TRUE(IsReady(state).ok());
  state.phase = rendezvous::NodePhase::kStopping;
  EXPECT_FALSE(IsReady(state).ok());
}

TEST(AgentState, IsNotReadyOnceItLeaves) {
  AgentState state = Waiting();
  state.phase = rendezvous::NodePhase::kRunning;
  state.leaving = true;
  EXPECT_THAT(Why(IsReady(state)), HasSubstr("leaving"));
}

TEST(AgentState, IsLiveWhileItsLoopTurns) {
  EXPECT_TRUE(IsLive(Waiting(), kNow + kLongestTurn).ok());
  EXPECT_THAT(Why(IsLive(Waiting(), kNow + seconds(60))),
              HasSubstr("for 60 s"));
}

TEST(AgentState, HasStartedOnceTheCoordinatorAnswered) {
  EXPECT_TRUE(IsStarted(Waiting()).ok());
  EXPECT_FALSE(IsStarted(AgentState()).ok());
}

TEST(AgentView, ShowsTheNewestState) {
  AgentView view;
  AgentState state = Waiting();
  state.round = 3;
  view.Show(state);
  EXPECT_EQ(view.Look().round, 3);
}

}  // namespace
}  // namespace muster::agent
