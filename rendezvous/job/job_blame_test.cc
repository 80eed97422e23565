// Tests that the right event is blamed for the end of a round in two cases.
// Either a node dies, and its peers' workers fail because their connections
// break. Or a worker dies of a SIGKILL that Muster did not send; then the whole
// node may be about to die.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

// Node b dies, so its stream breaks. A worker of node a loses its connection to
// node b's worker, and fails within b's reconnect grace.
class JobBlame : public ::testing::Test {
 protected:
  explicit JobBlame(int max_restarts = 0)
      : job_([&] {
          JobSpec spec = QuickSpec(1, 2);
          spec.max_restarts = max_restarts;
          return spec;
        }()) {
    job_.StartAll({"a", "b"});
    job_.BreakStream("b");
    job_.Wait(milliseconds(100));
    job_.Fails("a", ExitedWith(0, 1));
    job_.Idle("a");
  }

  JobFixture job_;
};

class JobBlameWithABudget : public JobBlame {
 protected:
  JobBlameWithABudget() : JobBlame(/*max_restarts=*/1) {}
};

TEST_F(JobBlame, TheRoundStopsAtOnceButTheJobWaitsForTheMissingNode) {
  EXPECT_EQ(job_.phase(), JobPhase::kStopping);
  job_.Wait(milliseconds(399));
  EXPECT_EQ(job_.phase(), JobPhase::kStopping);
}

TEST_F(JobBlame, ALostNodeIsTheCauseAndSpendsNoRestart) {
  job_.Wait(milliseconds(400));
  EXPECT_THAT(job_.Decided("blame"), HasSubstr("b (group rank 1) was lost"));
  const std::optional<Failure> loss = job_.DecidedFailure("blame");
  ASSERT_TRUE(loss.has_value());
  EXPECT_EQ(loss->kind, FailureKind::kNodeLost);
  EXPECT_EQ(loss->node_id, "b");
  // The loss of a node spends no restart. So the remaining node a begins a new
  // round although no restarts are allowed.
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
  EXPECT_EQ(job_.round(), 2);
  EXPECT_EQ(job_.status().restarts_used, 0);
}

TEST_F(JobBlameWithABudget, TheRestartIsGivenBack) {
  EXPECT_EQ(job_.status().restarts_used, 1);
  job_.Wait(milliseconds(400));
  EXPECT_EQ(job_.round(), 2);
  EXPECT_EQ(job_.status().restarts_used, 0);
  EXPECT_EQ(job_.told("a").place.restart_count, 0);
}

TEST_F(JobBlame, ANodeThatComesBackIsNotTheCause) {
  job_.Reconnect("b");
  job_.Stopping("b");
  job_.Idle("b");
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
  EXPECT_EQ(job_.told("a").verdict.exit_code, 1);
  EXPECT_EQ(job_.told("a").verdict.cause->rank, 0);
}

TEST_F(JobBlame, ANodeThatAnsweredTheOrderToStopIsNotTheCause) {
  job_.Reconnect("b");
  job_.Stopping("b");
  job_.Lose("b");
  EXPECT_EQ(job_.Count("blame"), 0);
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
}

TEST_F(JobBlame, ACancelInBetweenStillEndsTheJob) {
  job_.Step(CancelAsked{"launch cancel"});
  job_.Wait(milliseconds(400));
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
  const Verdict& verdict = job_.told("a").verdict;
  EXPECT_EQ(verdict.outcome, Outcome::kCancelled);
  // The verdict shows the loss of node b as the cause, and node a's failed
  // worker as collateral.
  EXPECT_EQ(verdict.cause->kind, FailureKind::kNodeLost);
  EXPECT_EQ(verdict.collateral.at(0).rank, 0);
}

TEST(JobBlameNot, ANodeThatHadSucceeded) {
  JobSpec spec = QuickSpec(1, 3);
  spec.max_restarts = 0;
  JobFixture job(spec);
  job.StartAll({"a", "b", "c"});
  job.Succeeds("b");
  job.BreakStream("b");
  job.Fails("a", ExitedWith(0, 1));
  job.Stopping("c");
  job.Wait(seconds(1));
  job.Idle("a");
  job.Idle("c");
  EXPECT_EQ(job.Count("lost"), 1);
  EXPECT_EQ(job.Count("blame"), 0);
  EXPECT_EQ(job.phase(), JobPhase::kFinished);
}

TEST(JobBlameNot, AProgramThatCannotBeStartedIsNoConsequence) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.BreakStream("b");
  Failure failure = ExitedWith(0, 127);
  failure.kind = FailureKind::kStartFailed;
  job.Fails("a", failure);
  job.Idle("a");
  job.Wait(seconds(1));
  EXPECT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.told("a").verdict.exit_code, 127);
}

// Node b dies. A worker of node a loses its connection to node b's worker, and
// fails before the coordinator notices b's death.
class JobBlameUnheard : public ::testing::Test {
 protected:
  JobBlameUnheard()
      : job_([] {
          JobSpec spec = QuickSpec(1, 2);
          spec.max_restarts = 0;
          return spec;
        }()) {
    job_.StartAll({"a", "b"});
    job_.agent("b").silent = true;
    job_.agent("b").deaf = true;
    job_.Fails("a", ExitedWith(0, 1));
    job_.Idle("a");
  }

  JobFixture job_;
};

// The coordinator may notice the end of node b's stream long after the failure
// of node a's worker, because the two nodes have different streams. The loss of
// b still becomes the cause of the round's break.
TEST_F(JobBlameUnheard, ItsStreamIsReadLater) {
  job_.Wait(seconds(2));
  job_.BreakStream("b");
  job_.Wait(milliseconds(500));
  EXPECT_THAT(job_.Decided("blame"), HasSubstr("b (group rank 1) was lost"));
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
  EXPECT_EQ(job_.round(), 2);
}

// Node b loses power, so its stream stays open without data. When b's lease
// ends, the loss of b becomes the cause of the break.
TEST_F(JobBlameUnheard, SilentNodeIsLostAtItsLease) {
  job_.Wait(milliseconds(4999));
  EXPECT_EQ(job_.phase(), JobPhase::kStopping);
  job_.Wait(milliseconds(1));
  EXPECT_THAT(job_.Decided("blame"), HasSubstr("has been silent for 5 s"));
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
  EXPECT_EQ(job_.round(), 2);
}

// Node b dies silently, and the shutdown time-out is shorter than b's lease.
// When the coordinator gives b up because b does not stop, the loss of b
// becomes the cause of the break.
TEST(JobBlameSilent, ANodeGivenUpBeforeItsLeaseIsOver) {
  JobSpec spec = QuickSpec(1, 2);
  spec.max_restarts = 0;
  spec.shutdown_timeout = seconds(1);
  spec.keep_alive_misses = 60;
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.agent("b").silent = true;
  job.Wait(milliseconds(1));
  job.Fails("a", ExitedWith(0, 1));
  job.Idle("a");
  job.Wait(seconds(6));
  EXPECT_THAT(job.Decided("lost"), HasSubstr("would not stop"));
  EXPECT_EQ(job.Count("blame"), 1);
  EXPECT_EQ(job.round(), 2);
}

// A report that b sent before it died may arrive after the coordinator has sent
// the stop order. So such a report does not prove that b is alive.
TEST_F(JobBlameUnheard, AReportFromBeforeTheOrderProvesNothing) {
  job_.Report("b");
  job_.BreakStream("b");
  job_.Wait(milliseconds(500));
  EXPECT_EQ(job_.Count("blame"), 1);
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
}

TEST_F(JobBlameUnheard, AnAnswerToTheOrderProvesThatItOutlivedTheFailure) {
  job_.agent("b").deaf = false;
  // The coordinator answers the first report with the stop order that node b
  // has missed. The second report says that node b has seen it.
  job_.Report("b");
  job_.Report("b");
  job_.BreakStream("b");
  job_.Wait(milliseconds(500));
  EXPECT_EQ(job_.Count("blame"), 0);
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
  EXPECT_EQ(job_.told("a").verdict.exit_code, 1);
}

TEST_F(JobBlameUnheard, LiveNodeThatDoesNotStopIsLostAndNotBlamed) {
  // From now on node b sends reports, but it still receives no stop order.
  job_.agent("b").silent = false;
  job_.Wait(seconds(15));
  EXPECT_THAT(job_.Decided("lost"), HasSubstr("would not stop"));
  EXPECT_EQ(job_.Count("blame"), 0);
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
  EXPECT_EQ(job_.told("a").verdict.exit_code, 1);
}

// Rank 1 raises an exception, but rank 0 on node a exits before rank 1 does. So
// the coordinator receives the failure of rank 0 first.
class JobBlameRaisedFirst : public ::testing::Test {
 protected:
  explicit JobBlameRaisedFirst(int max_restarts = 0)
      : job_([&] {
          JobSpec spec = QuickSpec(2, 2);
          spec.max_restarts = max_restarts;
          return spec;
        }()) {
    job_.StartAll({"a", "b"});
  }

  static Failure LostItsPeer() {
    Failure failure = ExitedWith(0, 7);
    failure.message = "RuntimeError: Connection closed by peer";
    return failure;
  }

  static Failure RaisedFirst() {
    Failure failure;
    failure.kind = FailureKind::kStoppedByUs;
    failure.rank = 1;
    failure.signal = 15;
    failure.message = "ValueError: bad batch";
    failure.traceback = "in main";
    failure.raised_first = true;
    return failure;
  }

  // Returns the verdict after two failures: `first`, which node a reports, and
  // then `second`, which node `on` reports.
  Verdict Ends(const Failure& first, const std::string& on,
               const Failure& second) {
    job_.Fails("a", first);
    job_.Fails(on, second);
    job_.AllStop();
    // longer than kKillSpread (250 ms), for which the verdict may wait
    job_.Wait(seconds(1));
    return job_.told("b").verdict;
  }

  JobFixture job_;
};

TEST_F(JobBlameRaisedFirst, IsTheCauseWithItsTraceback) {
  const Verdict verdict = Ends(LostItsPeer(), "a", RaisedFirst());
  EXPECT_EQ(verdict.outcome, Outcome::kFailed);
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_EQ(verdict.reason, "rank 1 on a: ValueError: bad batch");
  ASSERT_TRUE(verdict.cause.has_value());
  EXPECT_EQ(verdict.cause->rank, 1);
  EXPECT_EQ(verdict.cause->traceback, "in main");
  ASSERT_EQ(verdict.collateral.size(), 1u);
  EXPECT_EQ(verdict.collateral[0].rank, 0);
  EXPECT_EQ(job_.Decided("blame"),
            "round 1 broke because rank 1 on a: ValueError: bad batch, which "
            "was raised before; not by rank 0 on a: RuntimeError: Connection "
            "closed by peer");
  EXPECT_EQ(job_.Count("failure"), 1);
}

TEST_F(JobBlameRaisedFirst, OnOneNodeItExplainsEveryFailedExit) {
  EXPECT_EQ(Ends(ExitedWith(0, 7), "a", RaisedFirst()).cause->rank, 1);
}

TEST_F(JobBlameRaisedFirst, OnOneNodeItExplainsAnAbortByAWatchdog) {
  EXPECT_EQ(Ends(KilledBy(0, 6), "a", RaisedFirst()).cause->rank, 1);
}

TEST_F(JobBlameRaisedFirst, OnAnotherNodeItExplainsABrokenConnection) {
  EXPECT_EQ(Ends(LostItsPeer(), "b", RaisedFirst()).cause->rank, 1);
}

// A worker on another node has raised an exception. The clocks of two nodes
// cannot be compared, so it is unknown whether the exception or the exit of
// rank 0 came first. The cause must not change.
TEST_F(JobBlameRaisedFirst, OnAnotherNodeItDoesNotExplainAnotherExit) {
  EXPECT_EQ(Ends(ExitedWith(0, 7), "b", RaisedFirst()).cause->rank, 0);
  EXPECT_EQ(job_.Count("blame"), 0);
}

TEST_F(JobBlameRaisedFirst, OnAnotherNodeItDoesNotExplainAnAbort) {
  EXPECT_EQ(Ends(KilledBy(0, 6), "b", RaisedFirst()).cause->rank, 0);
}

TEST_F(JobBlameRaisedFirst, DoesNotExplainAKilledWorker) {
  EXPECT_EQ(Ends(KilledBy(0, 9), "a", RaisedFirst()).cause->rank, 0);
}

TEST_F(JobBlameRaisedFirst, ACommunicationErrorIsNoCause) {
  Failure second = RaisedFirst();
  second.message = "BrokenPipeError: [Errno 32] Broken pipe";
  EXPECT_EQ(Ends(LostItsPeer(), "a", second).cause->rank, 0);
}

TEST_F(JobBlameRaisedFirst, LaterExceptionIsNoCause) {
  Failure second = RaisedFirst();
  second.raised_first = false;
  EXPECT_EQ(Ends(LostItsPeer(), "a", second).cause->rank, 0);
}

TEST_F(JobBlameRaisedFirst, ACancelledJobStaysCancelled) {
  job_.Step(CancelAsked{});
  job_.Fails("a", RaisedFirst());
  job_.AllStop();
  EXPECT_EQ(job_.told("b").verdict.outcome, Outcome::kCancelled);
  EXPECT_FALSE(job_.told("b").verdict.cause.has_value());
}

class JobBlameRaisedFirstWithABudget : public JobBlameRaisedFirst {
 protected:
  JobBlameRaisedFirstWithABudget() : JobBlameRaisedFirst(/*max_restarts=*/1) {}
};

TEST_F(JobBlameRaisedFirstWithABudget, TheRestartStaysSpent) {
  job_.Fails("a", LostItsPeer());
  job_.Fails("a", RaisedFirst());
  job_.AllStop();
  EXPECT_EQ(job_.round(), 2);
  EXPECT_EQ(job_.status().restarts_used, 1);
  EXPECT_EQ(job_.Count("blame"), 1);
}

// Node b itself reported the failure of its worker, so the failure came before
// b was lost and stays the cause. If the loss were blamed, no restart would be
// spent, and a job whose node always fails this way would restart for ever.
TEST(JobBlameNot, ANodeWhoseOwnWorkerFailed) {
  JobSpec spec = QuickSpec(1, 2);
  spec.max_restarts = 0;
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.agent("b").deaf = true;
  job.Fails("b", ExitedWith(1, 3));
  job.BreakStream("b");
  job.Idle("a");
  job.Wait(seconds(1));
  EXPECT_EQ(job.Count("lost"), 1);
  EXPECT_EQ(job.Count("blame"), 0);
  EXPECT_EQ(job.told("a").verdict.exit_code, 3);
}

// Node b has answered the stop order. Then it reconnects, and reports
// seen_revision 0 on the new stream. The coordinator must not forget the
// answer.
TEST_F(JobBlame, ANodeThatAnsweredOnAnEarlierStreamIsNotTheCause) {
  job_.Reconnect("b");
  job_.Stopping("b");
  job_.BreakStream("b");
  job_.agent("b").report.seen_revision = 0;
  job_.agent("b").deaf = true;
  job_.Reconnect("b");
  job_.Lose("b");
  EXPECT_EQ(job_.Count("blame"), 0);
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
}

TEST_F(JobBlameWithABudget, ACancelInBetweenStillEndsTheJob) {
  job_.Step(CancelAsked{"launch cancel"});
  job_.Wait(milliseconds(400));
  EXPECT_EQ(job_.Count("blame"), 1);
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
  EXPECT_EQ(job_.told("a").verdict.outcome, Outcome::kCancelled);
}

// Node b leaves because its guardian process (the parent of its workers) died.
// Before node b reports this, a worker of node a fails because node b's workers
// are gone.
class JobBlameLeaving : public JobBlameUnheard {
 protected:
  void Leave() {
    job_.agent("b").report.leave = "the guardian was killed";
    job_.Idle("b");
  }
};

TEST_F(JobBlameLeaving, ANodeThatLeftBeforeTheOrderIsTheCause) {
  Leave();
  EXPECT_THAT(job_.Decided("blame"), HasSubstr("b (group rank 1) goes: the "));
  EXPECT_FALSE(job_.DecidedFailure("blame").has_value());
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
  EXPECT_EQ(job_.round(), 2);
  EXPECT_EQ(job_.World(), std::vector<std::string>{"a"});
}

TEST_F(JobBlameLeaving, ANodeThatLeavesAfterTheOrderIsNot) {
  job_.agent("b").deaf = false;
  job_.Report("b");  // node b receives the stop order again
  job_.Report("b");  // node b reports that it has seen the stop order
  Leave();
  EXPECT_EQ(job_.Count("blame"), 0);
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
  EXPECT_EQ(job_.told("a").verdict.exit_code, 1);
}

TEST(JobBlameNot, ANodeThatHadSucceededAndLeaves) {
  JobSpec spec = QuickSpec(1, 2);
  spec.max_restarts = 0;
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.agent("b").deaf = true;
  job.Fails("a", ExitedWith(0, 1));
  job.agent("b").report.leave = "SIGTERM";
  job.Succeeds("b");
  job.Idle("a");
  EXPECT_EQ(job.Count("leave"), 1);
  EXPECT_EQ(job.Count("blame"), 0);
  EXPECT_EQ(job.told("a").verdict.exit_code, 1);
}

// Node b leaves before it has started the current round. It has reported the
// success of its workers, but in the previous round. So its leaving is the
// cause of the break of the current round.
TEST(JobBlameBeforeItsStart, ANodeThatLeavesIsTheCause) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.Succeeds("b");
  job.agent("b").deaf = true;
  job.Fails("a", ExitedWith(0, 1));
  job.Idle("a");
  ASSERT_EQ(job.round(), 2);
  job.Runs("a");
  job.Fails("a", ExitedWith(0, 1));
  job.agent("b").report.leave = "SIGTERM";
  job.Report("b");
  EXPECT_THAT(job.Decided("blame"), HasSubstr("goes: SIGTERM"));
}

TEST_F(JobBlameLeaving, ASpareThatGoesIsNot) {
  job_.Create("c").deaf = true;
  job_.Join("c");
  job_.agent("c").report.leave = "SIGTERM";
  job_.Report("c");
  EXPECT_EQ(job_.Count("leave"), 1);
  EXPECT_EQ(job_.Count("blame"), 0);
}

// A worker of node b is killed by a signal (by default SIGKILL). Then all other
// workers end, so that no process of the round is left on node a or node b.
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

TEST_F(JobKill, BeforeTheNodesEndItIsALoss) {
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
  job_.Lose("a");
  EXPECT_EQ(job_.Count("blame"), 0);
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
}

// The coordinator's process was suspended, so the end of b's stream may be
// unread. The coordinator therefore waits again for 250 ms (Blame::kKillSpread)
// to see whether b's agent is lost, too.
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

// A worker of node b is killed by a signal, and a worker of node a fails as a
// consequence. The coordinator receives the failure of node a's worker first.
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

TEST_F(JobKillSecond, BeforeTheNodesEndItIsALoss) {
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

TEST_F(JobKillSecond, OtherSignalEndsTheJobAtOnce) {
  job_.Fails("b", KilledBy(1, SIGSEGV));
  job_.Idle("b");
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
}

// A worker of node a fails because its connection broke. After that the
// coordinator learns that a signal killed a worker of node b.
class JobKillToldByAPeer : public ::testing::Test {
 protected:
  explicit JobKillToldByAPeer(int max_restarts = 0)
      : job_([&] {
          JobSpec spec = QuickSpec(1, 2);
          spec.max_restarts = max_restarts;
          return spec;
        }()) {
    job_.StartAll({"a", "b"});
    job_.agent("b").deaf = true;
    Failure lost_its_peer = ExitedWith(0, 1);
    lost_its_peer.message = "RuntimeError: Connection closed by peer";
    job_.Fails("a", lost_its_peer);
    job_.Idle("a");
  }

  JobFixture job_;
};

class JobKillToldByAPeerWithABudget : public JobKillToldByAPeer {
 protected:
  JobKillToldByAPeerWithABudget() : JobKillToldByAPeer(/*max_restarts=*/1) {}
};

TEST_F(JobKillToldByAPeer, IsTheCauseOnceTheAgentHasOutlivedIt) {
  job_.Fails("b", KilledBy(1, SIGKILL));
  EXPECT_EQ(job_.Decided("blame"),
            "round 1 broke because rank 1 on b: killed by signal 9, whose "
            "connections broke; not by rank 0 on a: RuntimeError: Connection "
            "closed by peer");
  job_.Idle("b");
  job_.Wait(milliseconds(249));
  EXPECT_EQ(job_.phase(), JobPhase::kStopping);
  job_.Wait(milliseconds(1));
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
  EXPECT_EQ(job_.told("a").verdict.exit_code, 137);
  EXPECT_EQ(job_.told("a").verdict.cause->rank, 1);
}

TEST_F(JobKillToldByAPeer, BeforeTheNodesEndItIsALoss) {
  job_.Fails("b", KilledBy(1, SIGKILL));
  job_.Idle("b");
  job_.Wait(milliseconds(249));
  job_.BreakStream("b");
  job_.Wait(milliseconds(500));
  EXPECT_EQ(job_.Count("blame"), 2);
  EXPECT_EQ(job_.round(), 2);
}

TEST_F(JobKillToldByAPeerWithABudget, TheRestartStaysSpentAndBLosesTheTime) {
  job_.Fails("b", KilledBy(1, SIGBUS));
  job_.Idle("b");
  EXPECT_EQ(job_.round(), 2);
  EXPECT_EQ(job_.status().restarts_used, 1);
  const JobTime time = job_.status().time;
  ASSERT_EQ(time.newest.size(), 1u);
  EXPECT_EQ(time.newest[0].host, "b");
}

// The agent of b has reported that its workers had stopped, so the agent did
// not die together with its worker. If it falls silent later, its loss must not
// become the cause.
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
