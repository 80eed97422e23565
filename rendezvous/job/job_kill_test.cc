// SIGKILLs of a worker that Muster did not send: perhaps the death of the whole
// node.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

// b's worker is killed; neither b nor a has anything left of the round.
class JobKill : public ::testing::Test {
 protected:
  explicit JobKill(int signal = SIGKILL, int max_restarts = 0)
      : job_([&] {
          JobSpec spec = QuickSpec(1, 2);
          spec.max_restarts = max_restarts;
          return spec;
        }()) {
    job_.StartAll({"a", "b"});
    job_.Fails("b", KilledBy(1, signal));
    job_.Idle("b");
    job_.Idle("a");
  }

  JobFixture job_;
};

class JobKillWithABudget : public JobKill {
 protected:
  JobKillWithABudget() : JobKill(SIGKILL, /*max_restarts=*/1) {}
};

class JobOtherSignal : public JobKill {
 protected:
  JobOtherSignal() : JobKill(SIGSEGV) {}
};

TEST_F(JobKill, EndsTheJobOnceTheAgentHasOutlivedIt) {
  job_.Wait(milliseconds(249));
  EXPECT_EQ(job_.phase(), JobPhase::kStopping);
  job_.Wait(milliseconds(1));
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
  EXPECT_EQ(job_.told("a").verdict.exit_code, 137);
  EXPECT_EQ(job_.told("a").verdict.cause->rank, 1);
}

TEST_F(JobKill, OfAWholeNodeIsItsLoss) {
  job_.Wait(milliseconds(250) - milliseconds(1));
  job_.BreakStream("b");
  job_.Wait(milliseconds(499));
  EXPECT_EQ(job_.phase(), JobPhase::kStopping);
  job_.Wait(milliseconds(1));
  EXPECT_THAT(job_.Decided("blame"), HasSubstr("b (group rank 1) was lost"));
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
  EXPECT_EQ(job_.round(), 2);
}

TEST_F(JobKill, ItsNodeMayBeStartedAnewMeanwhile) {
  job_.BreakStream("b");
  job_.Restart("b");
  EXPECT_THAT(job_.Decided("blame"), HasSubstr("was started anew"));
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
  EXPECT_EQ(job_.round(), 2);
}

TEST_F(JobKill, AConnectionThatComesBackProvesLife) {
  job_.Wait(milliseconds(100));
  job_.BreakStream("b");
  job_.Wait(milliseconds(300));
  EXPECT_EQ(job_.phase(), JobPhase::kStopping);
  job_.Reconnect("b");
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
  EXPECT_EQ(job_.told("b").verdict.cause->rank, 1);
}

TEST_F(JobKill, AnotherNodesLossMeanwhileIsNoCause) {
  job_.BreakStream("a");
  job_.Wait(seconds(1));
  EXPECT_EQ(job_.Count("blame"), 0);
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
}

// The coordinator stood still, and the end of b's stream has not been read yet.
TEST_F(JobKill, TheMomentBeginsAnewAfterAStandstill) {
  job_.StandStill(milliseconds(351));
  job_.Step(TimePassed());
  EXPECT_EQ(job_.phase(), JobPhase::kStopping);
  job_.BreakStream("b");
  job_.Wait(milliseconds(500));
  EXPECT_THAT(job_.Decided("blame"), HasSubstr("b (group rank 1) was lost"));
  EXPECT_EQ(job_.round(), 2);
}

TEST_F(JobKill, ButOnce) {
  job_.StandStill(milliseconds(351));
  job_.Step(TimePassed());
  job_.StandStill(milliseconds(351));
  job_.Step(TimePassed());
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
  EXPECT_EQ(job_.told("a").verdict.exit_code, 137);
}

TEST_F(JobKillWithABudget, ARestartDoesNotWait) {
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
  EXPECT_EQ(job_.round(), 2);
  EXPECT_EQ(job_.status().restarts_used, 1);
}

TEST_F(JobOtherSignal, SaysNothingOfTheNode) {
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
  EXPECT_EQ(job_.told("a").verdict.exit_code, 128 + SIGSEGV);
}

TEST(JobKillLong, AnAgentThatDiesLaterIsNoCause) {
  JobSpec spec = QuickSpec(1, 2);
  spec.max_restarts = 0;
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.Fails("b", KilledBy(1, SIGKILL));
  job.Idle("b");
  job.Stopping("a");
  job.Wait(milliseconds(251));
  job.BreakStream("b");
  job.Wait(milliseconds(500));
  job.Idle("a");
  EXPECT_EQ(job.Count("blame"), 0);
  EXPECT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.told("a").verdict.exit_code, 137);
}

// As in JobKill, but a's worker failed because of the kill, and that failure is
// read first.
class JobKillSecond : public ::testing::Test {
 protected:
  JobKillSecond()
      : job_([] {
          JobSpec spec = QuickSpec(1, 2);
          spec.max_restarts = 0;
          return spec;
        }()) {
    job_.StartAll({"a", "b"});
    job_.agent("b").deaf = true;
    job_.Fails("a", ExitedWith(0, 1));
    job_.Idle("a");
  }

  JobFixture job_;
};

TEST_F(JobKillSecond, OfAWholeNodeIsItsLoss) {
  job_.Fails("b", KilledBy(1, SIGKILL));
  job_.Idle("b");
  job_.Wait(milliseconds(249));
  EXPECT_EQ(job_.phase(), JobPhase::kStopping);
  job_.BreakStream("b");
  job_.Wait(milliseconds(500));
  EXPECT_EQ(job_.Count("blame"), 1);
  EXPECT_EQ(job_.round(), 2);
}

TEST_F(JobKillSecond, IsNoneOnceTheAgentHasOutlivedIt) {
  job_.Fails("b", KilledBy(1, SIGKILL));
  job_.Idle("b");
  job_.Wait(milliseconds(250));
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
  EXPECT_EQ(job_.told("a").verdict.exit_code, 1);
}

TEST_F(JobKillSecond, AfterTheOrderToStopItSaysNothing) {
  job_.agent("b").deaf = false;
  job_.Report("b");
  job_.Fails("b", KilledBy(1, SIGKILL));
  job_.Idle("b");
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
}

TEST_F(JobKillSecond, NorDoesAnotherSignal) {
  job_.Fails("b", KilledBy(1, SIGSEGV));
  job_.Idle("b");
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
}

// b's agent reported that it had stopped, so it did not die with its worker.
TEST(JobKillLong, AnAgentThatFallsSilentLaterIsNoCause) {
  JobSpec spec = QuickSpec(1, 2);
  spec.max_restarts = 0;
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.Fails("b", KilledBy(1, SIGKILL));
  job.Idle("b");
  job.agent("b").silent = true;
  job.Stopping("a");
  job.Wait(seconds(6));
  EXPECT_EQ(job.Count("lost"), 1);
  job.Idle("a");
  EXPECT_EQ(job.Count("blame"), 0);
  EXPECT_EQ(job.phase(), JobPhase::kFinished);
}

}  // namespace
}  // namespace muster::rendezvous
