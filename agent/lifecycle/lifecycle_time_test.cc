#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

#include "agent/lifecycle/lifecycle_fixture.h"

namespace muster::agent {
namespace {

using rendezvous::Activity;
using rendezvous::DirectiveKind;
using std::chrono::seconds;
using testing::SizeIs;

class LifecycleTime : public testing::Test {
 protected:
  Duration Spent(Activity activity) {
    EXPECT_EQ(node_.reports.back().time.ledger.total(), node_.now() - began_)
        << "an instant has no activity, or two";
    return node_.reports.back().time.ledger[activity];
  }
  void Step(int64_t step) {
    ProgressMessage message{.alive = true};
    message.step = step;
    node_.Says(0, message);
  }
  // Advances the time until the next keep-alive report has been sent.
  void Report() { node_.Wait(seconds(1)); }

  LifecycleFixture node_;
  const Instant began_ = node_.now();
};

TEST_F(LifecycleTime, ANodeWaitsStartsRunsAndIsIdle) {
  node_.Connect();
  node_.TellWait();
  node_.Wait(seconds(5));
  EXPECT_EQ(Spent(Activity::kWaiting), seconds(5));
  node_.TellRun(1);
  node_.Up(0);
  node_.Wait(seconds(2));
  node_.Up(1);
  node_.Wait(seconds(10));
  EXPECT_EQ(Spent(Activity::kStarting), seconds(2));
  EXPECT_EQ(Spent(Activity::kRunning), seconds(10));
  node_.AllDown();
  node_.Wait(seconds(3));
  EXPECT_EQ(Spent(Activity::kIdle), seconds(3));
}

TEST_F(LifecycleTime, ASpareIsIdle) {
  node_.Connect();
  rendezvous::Directive wait = DirectiveOf(DirectiveKind::kWait);
  wait.waits_for = rendezvous::WaitsFor::kPlace;
  node_.Tell(wait);
  node_.Wait(seconds(5));
  EXPECT_EQ(Spent(Activity::kIdle), seconds(5));
}

TEST_F(LifecycleTime, WhatFollowsAFailureIsLostUntilANewStep) {
  node_.Run(1);
  Step(9);
  node_.Wait(seconds(4));
  Step(10);
  node_.Fails(0);
  node_.Wait(seconds(2));
  node_.Down(1);
  node_.Gone();
  node_.TellWait();
  node_.Wait(seconds(3));
  rendezvous::Directive run = DirectiveOf(DirectiveKind::kRun);
  run.place.round = 2;
  run.place.reached_step = 10;
  node_.Tell(run);
  node_.Up(0);
  node_.Up(1);
  node_.Wait(seconds(5));
  Step(9);
  node_.Wait(seconds(6));
  Step(10);
  node_.Wait(seconds(7));
  Step(11);
  Report();
  EXPECT_EQ(Spent(Activity::kStopping), seconds(2));
  EXPECT_EQ(Spent(Activity::kRecovering), seconds(3));
  EXPECT_EQ(Spent(Activity::kInitialising), seconds(5));
  EXPECT_EQ(Spent(Activity::kRecomputing), seconds(6));
  const auto& losses = node_.reports.back().time.losses;
  ASSERT_THAT(losses, SizeIs(1));
  EXPECT_EQ(losses[0].round, 1);
  EXPECT_EQ(losses[0].lost, seconds(2 + 3 + 5 + 6));
}

TEST_F(LifecycleTime, ASuccessIsNoLoss) {
  node_.Run(1);
  node_.AllDown();
  Report();
  EXPECT_THAT(node_.reports.back().time.losses, SizeIs(0));
}

TEST_F(LifecycleTime, ARoundThatIsRunAgainIsALoss) {
  node_.Run(1);
  node_.AllDown();
  node_.Wait(seconds(5));
  node_.TellRun(2);
  node_.Up(0);
  node_.Wait(seconds(2));
  const auto& losses = node_.reports.back().time.losses;
  ASSERT_THAT(losses, SizeIs(1));
  EXPECT_EQ(losses[0].round, 1);
  EXPECT_EQ(losses[0].lost, seconds(2));
}

TEST_F(LifecycleTime, ANodeThatLeavesStops) {
  node_.Run(1);
  node_.Wait(seconds(1));
  node_.TellFinished(1);
  node_.Wait(seconds(4));
  EXPECT_EQ(Spent(Activity::kStopping), seconds(4));
}

}  // namespace
}  // namespace muster::agent
