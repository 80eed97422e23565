#include "agent/probes/agent_probes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/monotonic_clock.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

TEST(AgentProbesTest, NewAgentIsLiveAndNotStarted) {
  AgentView view;
  const rendezvous::Probes probes = ProbesOf(&view);
  EXPECT_TRUE(probes.live().ok());
  EXPECT_FALSE(probes.started().ok());
  EXPECT_FALSE(probes.ready().ok());
}

TEST(AgentProbesTest, TheyTellWhatTheViewShowsNow) {
  AgentView view;
  const rendezvous::Probes probes = ProbesOf(&view);
  AgentState state;
  state.turned = MonotonicNow();
  state.connected = state.reached = true;
  view.Show(state);
  EXPECT_TRUE(probes.live().ok());
  EXPECT_TRUE(probes.started().ok());
  EXPECT_TRUE(probes.ready().ok());
  state.turned -= std::chrono::hours(1);
  state.leaving = true;
  view.Show(state);
  EXPECT_THAT(std::string(probes.live().message()), HasSubstr("anything"));
  EXPECT_THAT(std::string(probes.ready().message()), HasSubstr("leaving"));
}

TEST(AgentProbesTest, LivenessHasAFurtherCondition) {
  AgentView view;
  absl::Status coordinator;
  const rendezvous::Probes probes =
      ProbesOf(&view, [&coordinator] { return coordinator; });
  EXPECT_TRUE(probes.live().ok());
  coordinator = absl::UnavailableError("the listener does not answer");
  EXPECT_EQ(probes.live(), coordinator);
}

}  // namespace
}  // namespace muster::agent
