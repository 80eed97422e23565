// Tests that the checkers of hangs and preemptions report each breach of their
// invariants.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulation/checkers/checkers.h"
#include "tests/simulation/checkers_fixture.h"

namespace muster::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

TEST_F(CheckersTest, ReportsAHangWithoutAStack) {
  Use(NewHangChecker);
  checker_->OnWorkerHung(kZero, 1, 1, 0, 0);
  Advance(plan_.hang_timeout);
  checker_->OnTick();
  EXPECT_EQ(checker_->breach(), "");
  Advance(seconds(1));
  checker_->OnTick();
  EXPECT_THAT(checker_->breach(), HasSubstr("nobody looks at it"));
}

TEST_F(CheckersTest, ReportsAHangWithoutAStop) {
  Use(NewHangChecker);
  checker_->OnWorkerHung(kZero, 1, 1, 0, 0);
  Advance(plan_.hang_timeout);
  checker_->OnAgentStepped(kZero, Looking(/*local_rank=*/0), now_);
  Advance(seconds(15));
  checker_->OnTick();
  EXPECT_EQ(checker_->breach(), "");
  Advance(seconds(1));
  checker_->OnTick();
  EXPECT_THAT(checker_->breach(), HasSubstr("is not stopped"));
}

TEST_F(CheckersTest, AcceptsAHangStoppedInTime) {
  Use(NewHangChecker);
  checker_->OnWorkerHung(kZero, 1, 1, 0, 0);
  checker_->OnAgentStepped(kZero, Signalling(15), now_);
  Advance(plan_.spec.shutdown_timeout);
  checker_->OnTick();
  checker_->OnAgentStepped(kZero, Signalling(9), now_);
  Advance(seconds(100));
  checker_->OnTick();
  EXPECT_EQ(checker_->breach(), "");
}

TEST_F(CheckersTest, ReportsAHangThatIsNotKilled) {
  for (const bool hangs_first : {true, false}) {
    Use(NewHangChecker);
    if (hangs_first) checker_->OnWorkerHung(kZero, 1, 1, 0, 0);
    checker_->OnAgentStepped(kZero, Signalling(15), now_);
    if (!hangs_first) checker_->OnWorkerHung(kZero, 1, 1, 0, 0);
    Advance(plan_.spec.shutdown_timeout);
    checker_->OnTick();
    EXPECT_EQ(checker_->breach(), "");
    Advance(seconds(1));
    checker_->OnTick();
    EXPECT_THAT(checker_->breach(), HasSubstr("is not killed"));
  }
}

TEST_F(CheckersTest, ReportsAHangBesideAKilledWorker) {
  Use(NewHangChecker);
  checker_->OnAgentStepped(kZero, Signalling(15), now_);
  checker_->OnWorkerHung(kZero, 1, 1, 0, 0);
  checker_->OnAgentStepped(kZero, Signalling(9, /*local_rank=*/1), now_);
  Advance(plan_.spec.shutdown_timeout + seconds(1));
  checker_->OnTick();
  EXPECT_THAT(checker_->breach(), HasSubstr("is not killed"));
}

TEST_F(CheckersTest, AcceptsAHangAfterTheKill) {
  Use(NewHangChecker);
  checker_->OnAgentStepped(kZero, Signalling(9), now_);
  checker_->OnWorkerHung(kZero, 1, 1, 0, 0);
  checker_->OnAgentStepped(kZero, Signalling(15), now_);
  Advance(seconds(100));
  checker_->OnTick();
  EXPECT_EQ(checker_->breach(), "");
  // The workers of round 1 end. Their SIGKILL does not count for the workers of
  // round 2. So if one of these hangs and is not killed in time, the checker
  // must report a breach.
  checker_->OnWorkersGone(kZero, 1, 1);
  checker_->OnWorkerHung(kZero, 1, 2, 0, 0);
  checker_->OnAgentStepped(kZero, Signalling(15), now_);
  Advance(seconds(100));
  checker_->OnTick();
  EXPECT_THAT(checker_->breach(), HasSubstr("is not killed"));
}

TEST_F(CheckersTest, ReportsASuspicionOfAReportingWorker) {
  Use(NewHangChecker);
  checker_->OnWorkerHung(kZero, 1, 1, 0, 0);
  checker_->OnAgentStepped(kZero, Looking(/*local_rank=*/1), now_);
  EXPECT_THAT(checker_->breach(), HasSubstr("does not hang"));
}

TEST_F(CheckersTest, ReportsBlameWithoutAHang) {
  Use(NewHangChecker);
  checker_->OnWorkerHung(kZero, 1, 1, 0, 0);
  checker_->OnStep(Break(1, "rank 0 on h0: hung: silent for 3 s"));
  EXPECT_EQ(checker_->breach(), "");
  checker_->OnStep(Break(1, "rank 1 on h1: hung: silent for 3 s"));
  EXPECT_THAT(checker_->breach(), HasSubstr("did not hang"));
}

TEST_F(CheckersTest, ReportsARoundAfterANoticeOfPreemption) {
  Use(NewPreemptionChecker);
  checker_->OnStep(Begin(1));
  step_.decisions = {{.kind = "preempt"}};
  checker_->OnStep(step_);
  EXPECT_EQ(checker_->breach(), "");
  checker_->OnStep(Begin(2));
  EXPECT_THAT(checker_->breach(), HasSubstr("after the notice"));
}

TEST_F(CheckersTest, ReportsWorkersAfterANoticeOfPreemption) {
  Use(NewPreemptionChecker);
  agent::LifecycleStep step;
  step.actions.emplace_back(agent::StartWorkers());
  checker_->OnAgentStepped(kZero, step, std::nullopt);
  step.actions[0] = agent::AnnouncePreemption();
  checker_->OnAgentStepped(kZero, step, std::nullopt);
  EXPECT_EQ(checker_->breach(), "");
  step.actions[0] = agent::StartWorkers();
  checker_->OnAgentStepped(kZero, step, std::nullopt);
  EXPECT_THAT(checker_->breach(), HasSubstr("n0 starts workers"));
}

TEST_F(CheckersTest, ReportsAPreemptionAnnouncedTwice) {
  Use(NewPreemptionChecker);
  agent::LifecycleStep step;
  step.actions.emplace_back(agent::AnnouncePreemption());
  checker_->OnAgentStepped(kZero, step, std::nullopt);
  checker_->OnAgentStepped(kZero, step, std::nullopt);
  EXPECT_THAT(checker_->breach(), HasSubstr("twice"));
}

TEST_F(CheckersTest, ReportsAPreemptedJobThatDoesNotEnd) {
  Use(NewPreemptionChecker);
  step_.decisions = {{.kind = "preempt"}};
  checker_->OnStep(step_);
  const rendezvous::JobSpec& spec = plan_.spec;
  Advance(spec.preempt_grace + spec.shutdown_timeout + seconds(6));
  checker_->OnTick();
  EXPECT_EQ(checker_->breach(), "");
  Advance(milliseconds(1));
  checker_->OnTick();
  EXPECT_THAT(checker_->breach(), HasSubstr("has not ended"));
}

// A coordinator that continues a recorded job learns of the preemption while it
// still waits, for a lease, for the recorded nodes.
TEST_F(CheckersTest, APreemptedJobWaitsForTheNodesOfItsRecord) {
  Use(NewPreemptionChecker);
  checker_->OnCoordinatorStarted(2);
  checker_->OnCoordinatorContinued();
  step_.decisions = {{.kind = "preempt"}};
  checker_->OnStep(step_);
  const rendezvous::JobSpec& spec = plan_.spec;
  Advance(spec.lease() + spec.preempt_grace + spec.shutdown_timeout +
          seconds(6));
  checker_->OnTick();
  EXPECT_EQ(checker_->breach(), "");
  Advance(milliseconds(1));
  checker_->OnTick();
  EXPECT_THAT(checker_->breach(), HasSubstr("has not ended"));
}

TEST_F(CheckersTest, AcceptsACrashOfAPreemptedJobsCoordinator) {
  Use(NewPreemptionChecker);
  step_.decisions = {{.kind = "preempt"}};
  checker_->OnStep(step_);
  checker_->OnCoordinatorCrashed();
  Advance(seconds(1000));
  checker_->OnTick();
  EXPECT_EQ(checker_->breach(), "");
}

TEST_F(CheckersTest, ReportsANodeThatStaysAfterItsPreemption) {
  const rendezvous::JobSpec& spec = plan_.spec;
  const Duration longest =
      spec.preempt_grace + spec.shutdown_timeout + seconds(20);
  agent::LifecycleStep step;
  step.actions.emplace_back(agent::AnnouncePreemption());
  for (const bool paused : {false, true}) {
    Use(NewPreemptionChecker);
    checker_->OnAgentStepped(kZero, step, std::nullopt);
    if (paused) checker_->OnAgentPaused(kZero);
    Advance(longest);
    checker_->OnTick();
    EXPECT_EQ(checker_->breach(), "");
    Advance(seconds(1));
    checker_->OnTick();
    if (paused) {
      EXPECT_EQ(checker_->breach(), "");
      checker_->OnAgentResumed(kZero);
      Advance(longest);
      checker_->OnTick();
    }
    EXPECT_THAT(checker_->breach(), HasSubstr("n0 knows of it"));
    checker_->OnAgentEnded(kZero);
  }
}

TEST_F(CheckersTest, AcceptsANodeThatLeavesAfterItsPreemption) {
  Use(NewPreemptionChecker);
  agent::LifecycleStep step;
  step.actions.emplace_back(agent::AnnouncePreemption());
  checker_->OnAgentStepped(kZero, step, std::nullopt);
  checker_->OnAgentEnded(kZero);
  Advance(seconds(1000));
  checker_->OnTick();
  EXPECT_EQ(checker_->breach(), "");
}

TEST_F(CheckersTest, ReportsAPreemptedJobThatSucceeds) {
  Use(NewPreemptionChecker);
  step_.decisions = {{.kind = "preempt"}};
  step_.status.phase = rendezvous::JobPhase::kFinished;
  step_.status.verdict =
      rendezvous::Verdict{.outcome = rendezvous::Outcome::kSucceeded};
  checker_->OnStep(step_);
  EXPECT_THAT(checker_->breach(), HasSubstr("succeeds"));
}

TEST_F(CheckersTest, ReportsAPreemptedJobWithAnotherExitCode) {
  Use(NewPreemptionChecker);
  step_.decisions = {{.kind = "preempt"}};
  step_.status.phase = rendezvous::JobPhase::kFinished;
  step_.status.verdict = rendezvous::Verdict{
      .outcome = rendezvous::Outcome::kPreempted, .exit_code = 1};
  checker_->OnStep(step_);
  EXPECT_THAT(checker_->breach(), HasSubstr("exit code 1"));
}

}  // namespace
}  // namespace muster::simulation
