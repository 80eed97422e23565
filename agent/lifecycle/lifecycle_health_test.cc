// Tests of the health checks before each round.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/lifecycle/lifecycle_fixture.h"

namespace muster::agent {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Lifecycle::Config CheckedConfig() {
  Lifecycle::Config config = LifecycleFixture::QuickConfig();
  config.health_interval = seconds(30);
  return config;
}

TEST(LifecycleHealth, WithoutChecksANodeIsFit) {
  LifecycleFixture agent;
  agent.Connect();
  EXPECT_EQ(agent.reports.back().health, rendezvous::Health::kHealthy);
  EXPECT_THAT(agent.checks, IsEmpty());
}

TEST(LifecycleHealth, IsReportedOnceTheCheckHasEnded) {
  LifecycleFixture agent(CheckedConfig());
  agent.Connect();
  EXPECT_THAT(agent.checks, SizeIs(1));
  EXPECT_EQ(agent.reports.back().health, rendezvous::Health::kUnchecked);
  agent.Step(HealthFound{agent.checks.back(), ""});
  EXPECT_EQ(agent.last_step().report->health, rendezvous::Health::kHealthy);
}

TEST(LifecycleHealth, AnUnhealthyNodeSaysWhyAndIsLookedAtAgain) {
  LifecycleFixture agent(CheckedConfig());
  agent.Connect();
  agent.TellWait();
  agent.Step(HealthFound{agent.checks.back(), "no disk"});
  ASSERT_TRUE(agent.last_step().report.has_value());
  EXPECT_EQ(agent.last_step().report->health, rendezvous::Health::kUnhealthy);
  EXPECT_EQ(agent.last_step().report->unhealthy, "no disk");
  EXPECT_THAT(agent.notices, Contains(HasSubstr("unhealthy: no disk")));
  agent.Wait(seconds(29));
  EXPECT_THAT(agent.checks, SizeIs(1));
  agent.Wait(seconds(1));
  ASSERT_THAT(agent.checks, SizeIs(2));
  agent.Step(HealthFound{agent.checks.back(), ""});
  EXPECT_EQ(agent.last_step().report->health, rendezvous::Health::kHealthy);
  EXPECT_THAT(agent.notices, Contains("this node is healthy again"));
}

TEST(LifecycleHealth, TheNextRoundNeedsAnotherCheck) {
  LifecycleFixture agent(CheckedConfig());
  agent.Connect();
  agent.Step(HealthFound{agent.checks.back(), ""});
  agent.TellRun(1);
  agent.Up(0);
  agent.Up(1);
  agent.Forget();
  agent.Wait(seconds(60));
  EXPECT_THAT(agent.checks, IsEmpty()) << "a round is left alone";
  agent.TellStop(1);
  agent.Fails(0);
  agent.Fails(1);
  EXPECT_THAT(agent.checks, IsEmpty());
  agent.Gone();
  EXPECT_THAT(agent.checks, SizeIs(1));
  EXPECT_EQ(agent.reports.back().phase, rendezvous::NodePhase::kIdle);
  EXPECT_EQ(agent.reports.back().health, rendezvous::Health::kUnchecked);
}

TEST(LifecycleHealth, AfterASuccessItIsCheckedOnlyIfTheRoundIsStopped) {
  LifecycleFixture agent(CheckedConfig());
  agent.Connect();
  agent.Step(HealthFound{agent.checks.back(), ""});
  agent.TellRun(1);
  agent.Up(0);
  agent.Up(1);
  agent.Forget();
  agent.Down(0);
  agent.Down(1);
  agent.Gone();
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kSucceeded);
  EXPECT_THAT(agent.checks, IsEmpty());
  EXPECT_EQ(agent.reports.back().health, rendezvous::Health::kUnchecked);
  agent.TellStop(1);
  EXPECT_THAT(agent.checks, SizeIs(1));
}

TEST(LifecycleHealth, ACheckDoesNotGetInTheWorkersWay) {
  LifecycleFixture agent(CheckedConfig());
  agent.Connect();
  agent.Step(HealthFound{agent.checks.back(), ""});
  agent.TellWait();
  agent.Wait(seconds(30));
  ASSERT_THAT(agent.checks, SizeIs(2));
  EXPECT_EQ(agent.reports.back().health, rendezvous::Health::kHealthy);
  agent.TellRun(1);
  EXPECT_EQ(agent.checks_dropped, 1);
  agent.Step(HealthFound{agent.checks.back(), "late"});
  EXPECT_EQ(agent.reports.back().unhealthy, "");
}

TEST(LifecycleHealth, WhoLeavesIsNotChecked) {
  LifecycleFixture agent(CheckedConfig());
  agent.Connect();
  agent.TellFinished(0);
  EXPECT_EQ(agent.checks_dropped, 1);
  EXPECT_TRUE(agent.leave.has_value());
}

}  // namespace
}  // namespace muster::agent
