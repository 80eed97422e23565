// Tests of the recorded cause of a worker's end: the worker itself, a signal of
// ours, or an exception that it had recorded before.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/lifecycle/lifecycle_fixture.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LifecycleEnds, AStoppedWorkerThatHadRecordedItsExceptionRaisedFirst) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Wait(seconds(5));
  agent.FailsAfterRecording(1, milliseconds(100));
  agent.Wait(seconds(2));
  agent.FailsAfterRecording(0, milliseconds(2200));
  agent.Gone();
  ASSERT_EQ(agent.reports.back().failures.size(), 2u);
  EXPECT_FALSE(agent.reports.back().failures[0].raised_first);
  const rendezvous::Failure& stopped = agent.reports.back().failures[1];
  EXPECT_EQ(stopped.kind, rendezvous::FailureKind::kStoppedByUs);
  EXPECT_TRUE(stopped.raised_first);
}

TEST(LifecycleEnds, AnExceptionAfterTheFirstFailuresDidNotComeFirst) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Wait(seconds(5));
  agent.FailsAfterRecording(1, milliseconds(100));
  agent.Wait(seconds(2));
  agent.FailsAfterRecording(0, milliseconds(2100));
  agent.Gone();
  EXPECT_FALSE(agent.reports.back().failures[1].raised_first);
}

// The agent may learn of a killed worker's end only after a peer has raised an
// exception because of it.
TEST(LifecycleEnds, AFailureWithoutARecordMayBeASecondOld) {
  for (const int ago : {3000, 3001}) {
    LifecycleFixture agent;
    agent.Run(1);
    agent.Wait(seconds(5));
    agent.Fails(1);
    agent.Wait(seconds(2));
    agent.FailsAfterRecording(0, milliseconds(ago));
    agent.Gone();
    EXPECT_EQ(agent.reports.back().failures[1].raised_first, ago == 3001)
        << ago;
  }
}

TEST(LifecycleEnds, AnExceptionBeforeTheOrderToStopRaisedFirst) {
  for (const int ago : {2000, 2001}) {
    LifecycleFixture agent;
    agent.Run(1);
    agent.Wait(seconds(5));
    agent.TellStop(1);
    agent.Wait(seconds(2));
    agent.FailsAfterRecording(0, milliseconds(ago));
    agent.Down(1);
    agent.Gone();
    EXPECT_EQ(agent.reports.back().failures[0].raised_first, ago == 2001)
        << ago;
  }
}

TEST(LifecycleEnds, OneThatFailedByItselfBeforeOurSignalIsNotOurDoing) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.FailsByItself(1);
  agent.FailsByItself(0);
  agent.Gone();
  ASSERT_EQ(agent.reports.back().failures.size(), 2u);
  EXPECT_EQ(agent.reports.back().failures[1].kind,
            rendezvous::FailureKind::kExitCode);
}

// The cluster or the terminal may have sent the workers the same signal.
TEST(LifecycleEnds, WhileTheJobIsStoppedNoEndIsAFailure) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.TellStop(1);
  agent.FailsByItself(1);
  agent.FailsByItself(0);
  agent.Gone();
  for (const rendezvous::Failure& failure : agent.reports.back().failures) {
    EXPECT_EQ(failure.kind, rendezvous::FailureKind::kStoppedByUs);
  }
}

TEST(LifecycleEnds, ARoundThatCannotBeServedIsTheNodesFailure) {
  LifecycleFixture agent;
  agent.Connect();
  agent.TellRun(1);
  agent.Forget();
  agent.Step(RoundRefused{"port 29480 is taken on a"});
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kIdle);
  const rendezvous::Report& report = agent.reports.back();
  EXPECT_EQ(report.phase, rendezvous::NodePhase::kIdle);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].kind, rendezvous::FailureKind::kStartFailed);
  EXPECT_EQ(report.failures[0].rank, -1);
  EXPECT_EQ(report.failures[0].exit_code, 1);
  EXPECT_EQ(report.failures[0].message, "port 29480 is taken on a");
  EXPECT_THAT(agent.closed_stores, ElementsAre("port 29480 is taken on a"));
  EXPECT_THAT(agent.notices, IsEmpty()) << "the verdict says it";
}

TEST(LifecycleEnds, OneThatNeverRanWasNotStopped) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Fails(1, rendezvous::FailureKind::kStartFailed);
  agent.Fails(0, rendezvous::FailureKind::kStartFailed);
  agent.Gone();
  ASSERT_EQ(agent.reports.back().failures.size(), 2u);
  EXPECT_EQ(agent.reports.back().failures[1].kind,
            rendezvous::FailureKind::kStartFailed);
}

}  // namespace
}  // namespace muster::agent
