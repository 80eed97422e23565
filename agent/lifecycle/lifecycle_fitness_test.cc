// A node is looked at before every round.

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
  config.fitness_interval = seconds(30);
  return config;
}

TEST(LifecycleFitness, WithoutChecksANodeIsFit) {
  LifecycleFixture agent;
  agent.Connect();
  EXPECT_EQ(agent.reports.back().fitness, rendezvous::Fitness::kFit);
  EXPECT_THAT(agent.checks, IsEmpty());
}

TEST(LifecycleFitness, IsReportedOnceTheCheckHasEnded) {
  LifecycleFixture agent(CheckedConfig());
  agent.Connect();
  EXPECT_THAT(agent.checks, SizeIs(1));
  EXPECT_EQ(agent.reports.back().fitness, rendezvous::Fitness::kUnchecked);
  agent.Step(FitnessFound{agent.checks.back(), ""});
  EXPECT_EQ(agent.last_step().report->fitness, rendezvous::Fitness::kFit);
}

TEST(LifecycleFitness, AnUnfitNodeSaysWhyAndIsLookedAtAgain) {
  LifecycleFixture agent(CheckedConfig());
  agent.Connect();
  agent.TellWait();
  agent.Step(FitnessFound{agent.checks.back(), "no disk"});
  ASSERT_TRUE(agent.last_step().report.has_value());
  EXPECT_EQ(agent.last_step().report->fitness, rendezvous::Fitness::kUnfit);
  EXPECT_EQ(agent.last_step().report->unfit, "no disk");
  EXPECT_THAT(agent.notices, Contains(HasSubstr("unfit: no disk")));
  agent.Wait(seconds(29));
  EXPECT_THAT(agent.checks, SizeIs(1));
  agent.Wait(seconds(1));
  ASSERT_THAT(agent.checks, SizeIs(2));
  agent.Step(FitnessFound{agent.checks.back(), ""});
  EXPECT_EQ(agent.last_step().report->fitness, rendezvous::Fitness::kFit);
  EXPECT_THAT(agent.notices, Contains("this node is fit again"));
}

TEST(LifecycleFitness, TheNextRoundNeedsAnotherCheck) {
  LifecycleFixture agent(CheckedConfig());
  agent.Connect();
  agent.Step(FitnessFound{agent.checks.back(), ""});
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
  EXPECT_EQ(agent.reports.back().fitness, rendezvous::Fitness::kUnchecked);
}

TEST(LifecycleFitness, AfterASuccessItIsCheckedOnlyIfTheRoundIsStopped) {
  LifecycleFixture agent(CheckedConfig());
  agent.Connect();
  agent.Step(FitnessFound{agent.checks.back(), ""});
  agent.TellRun(1);
  agent.Up(0);
  agent.Up(1);
  agent.Forget();
  agent.Down(0);
  agent.Down(1);
  agent.Gone();
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kSucceeded);
  EXPECT_THAT(agent.checks, IsEmpty());
  EXPECT_EQ(agent.reports.back().fitness, rendezvous::Fitness::kUnchecked);
  agent.TellStop(1);
  EXPECT_THAT(agent.checks, SizeIs(1));
}

TEST(LifecycleFitness, ACheckDoesNotGetInTheWorkersWay) {
  LifecycleFixture agent(CheckedConfig());
  agent.Connect();
  agent.Step(FitnessFound{agent.checks.back(), ""});
  agent.TellWait();
  agent.Wait(seconds(30));
  ASSERT_THAT(agent.checks, SizeIs(2));
  EXPECT_EQ(agent.reports.back().fitness, rendezvous::Fitness::kFit);
  agent.TellRun(1);
  EXPECT_EQ(agent.checks_dropped, 1);
  agent.Step(FitnessFound{agent.checks.back(), "late"});
  EXPECT_EQ(agent.reports.back().unfit, "");
}

TEST(LifecycleFitness, WhoLeavesIsNotChecked) {
  LifecycleFixture agent(CheckedConfig());
  agent.Connect();
  agent.TellFinished(0);
  EXPECT_EQ(agent.checks_dropped, 1);
  EXPECT_TRUE(agent.leave.has_value());
}

}  // namespace
}  // namespace muster::agent
