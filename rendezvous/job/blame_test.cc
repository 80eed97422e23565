#include "rendezvous/job/blame.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(CommunicationError, MessagesOfALostPeer) {
  for (const char* const message :
       {"RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] "
        "Connection closed by peer [127.0.0.1]:1234",
        "torch.distributed.DistBackendError: NCCL error in: x.cpp:1",
        "DistNetworkError: The client socket has timed out after 1s",
        "BrokenPipeError: [Errno 32] Broken pipe",
        "ConnectionResetError: [Errno 104] Connection reset by peer",
        "exit code 1: rank 3 closed its connection",
        "rank 2 (10.0.0.3) died or broke its connection: it was reset",
        "rank 3 (pid 77 on b) died; noticed by rank 2 (pid 76 on b)"}) {
    EXPECT_TRUE(IsCommunicationError(message)) << message;
  }
}

TEST(CommunicationError, OtherMessages) {
  for (const char* const message :
       {"", "ValueError: bad batch", "exit code 3", "killed by SIGKILL (9)",
        "torch.cuda.OutOfMemoryError: CUDA out of memory",
        "RuntimeError: shape mismatch in peer_norm"}) {
    EXPECT_FALSE(IsCommunicationError(message)) << message;
  }
}

Failure Of(FailureKind kind, int rank) {
  Failure failure;
  failure.kind = kind;
  failure.rank = rank;
  failure.traceback = "Traceback";
  failure.stderr_tail = {"last words"};
  return failure;
}

TEST(FailureLog, TheFirstReceivedIsTheCauseInSpiteOfClocks) {
  FailureLog log;
  Failure late_clock = Of(FailureKind::kExitCode, 3);
  late_clock.unix_time = 2000;
  log.Add(late_clock);
  Failure early_clock = Of(FailureKind::kSignal, 1);
  early_clock.unix_time = 1000;
  log.Add(early_clock);

  Verdict verdict;
  log.Tell(verdict);
  ASSERT_TRUE(verdict.cause.has_value());
  EXPECT_EQ(verdict.cause->rank, 3);
  EXPECT_EQ(verdict.cause->traceback, "Traceback");
  ASSERT_EQ(verdict.collateral.size(), 1u);
  EXPECT_EQ(verdict.collateral[0].rank, 1);
}

TEST(FailureLog, AWorkerThatMusterStoppedIsNeverTheCause) {
  FailureLog log;
  log.Add(Of(FailureKind::kStoppedByUs, 0));
  EXPECT_FALSE(log.cause().has_value());
  log.Add(Of(FailureKind::kNodeLost, -1));
  ASSERT_TRUE(log.cause().has_value());
  EXPECT_EQ(log.cause()->kind, FailureKind::kNodeLost);
}

TEST(FailureLog, CollateralIsBoundedAndSaysHowMuchIsLeftOut) {
  FailureLog log;
  for (int rank = 0; rank < kMaxCollateral + 4; ++rank) {
    log.Add(Of(FailureKind::kExitCode, rank));
  }
  Verdict verdict;
  log.Tell(verdict);
  EXPECT_EQ(verdict.collateral.size(), static_cast<size_t>(kMaxCollateral));
  EXPECT_EQ(verdict.collateral_omitted, 3);
  EXPECT_EQ(verdict.collateral[0].rank, 1);
  EXPECT_TRUE(verdict.collateral[0].traceback.empty());
  EXPECT_TRUE(verdict.collateral[0].stderr_tail.empty());
}

TEST(FailureLog, ClearForgetsAll) {
  FailureLog log;
  for (int rank = 0; rank < kMaxCollateral + 4; ++rank) {
    log.Add(Of(FailureKind::kExitCode, rank));
  }
  log.Clear();
  Verdict verdict;
  log.Tell(verdict);
  EXPECT_FALSE(verdict.cause.has_value());
  EXPECT_TRUE(verdict.collateral.empty());
  EXPECT_EQ(verdict.collateral_omitted, 0);
}

TEST(ExitCodeOf, IsTheCauses) {
  Failure failure = Of(FailureKind::kExitCode, 0);
  failure.exit_code = 3;
  EXPECT_EQ(ExitCodeOf(failure), 3);
  // A worker's own exit code kPreemptedExitCode becomes 1, because that code is
  // reserved for preempted jobs.
  failure.exit_code = kPreemptedExitCode;
  EXPECT_EQ(ExitCodeOf(failure), 1);
  failure.exit_code = 0;
  EXPECT_EQ(ExitCodeOf(failure), 1);
  failure.kind = FailureKind::kStartFailed;
  failure.exit_code = 127;
  EXPECT_EQ(ExitCodeOf(failure), 127);
  failure.kind = FailureKind::kSignal;
  failure.signal = 9;
  EXPECT_EQ(ExitCodeOf(failure), 137);
  failure.kind = FailureKind::kNodeLost;
  EXPECT_EQ(ExitCodeOf(failure), 1);
  failure.kind = FailureKind::kStoppedByUs;
  EXPECT_EQ(ExitCodeOf(failure), 1);
}

constexpr uint64_t kRevision = 5;  // newest directive's revision at the break

Instant At(int second) { return Instant(seconds(second)); }

Failure OnNode(Failure failure, const std::string& node_id) {
  failure.node_id = node_id;
  return failure;
}

Failure Killed(const std::string& node_id) {
  Failure failure = OnNode(Of(FailureKind::kSignal, 0), node_id);
  failure.signal = SIGKILL;
  return failure;
}

// Returns the failure of a worker whose peer died. The worker's program writes
// no error file, so only its stderr shows the reason.
Failure LostItsPeer(const std::string& node_id) {
  Failure failure = OnNode(Of(FailureKind::kExitCode, 0), node_id);
  failure.message = "exit code 1";
  failure.stderr_tail = {
      "all_reduce #7: rank 3 (pid 77 on b) died; noticed by rank 0", "bye"};
  return failure;
}

Failure Hung(const std::string& node_id, Duration silent_for, int signal = 0) {
  Failure failure = OnNode(Of(FailureKind::kHung, 0), node_id);
  failure.silent_for = silent_for;
  failure.signal = signal;
  return failure;
}

Failure RaisedFirst(const std::string& node_id, const std::string& message) {
  Failure failure = OnNode(Of(FailureKind::kExitCode, 1), node_id);
  failure.raised_first = true;
  failure.message = message;
  return failure;
}

// Returns a connected node that runs its workers and whose newest seen
// directive is older than the break.
Node Member(const std::string& id) {
  Node node;
  node.identity.node_id = id;
  node.stream = 1;
  node.part = Part::kRunning;
  node.seen = kRevision;
  node.heard = At(100);
  node.deadline = At(110);
  return node;
}

Node LostStream(Node node, Instant when) {
  node.stream = 0;
  node.broken_since = when;
  return node;
}

// Tests in which, unless noted, a worker on node "a" fails at second 100.
class BlameTest : public ::testing::Test {
 protected:
  void BreakBy(const Failure& failure) {
    blame_.Add(failure);
    blame_.Break(At(100), kRevision, "why", &failure);
  }
  void BreakByExit() { BreakBy(OnNode(Of(FailureKind::kExitCode, 0), "a")); }

  Blame blame_;
};

TEST_F(BlameTest, ABreakWithoutAFailureIsFinal) {
  blame_.Break(At(100), kRevision, "a node leaves", nullptr);
  EXPECT_FALSE(blame_.provisional());
  EXPECT_EQ(blame_.why(), "a node leaves");
  EXPECT_FALSE(blame_.LossExplains(LostStream(Member("b"), At(100)), At(101)));
  EXPECT_FALSE(blame_.LeaveExplains(Member("b"), 1));
  EXPECT_FALSE(blame_.PreemptionExplains(Member("b")));
  EXPECT_FALSE(blame_.MovesTo(RaisedFirst("a", "KeyError"), At(101)));
}

TEST_F(BlameTest, TheLossOfANodeThatHasNotSeenTheBreakExplainsIt) {
  BreakByExit();
  Node lost = LostStream(Member("b"), At(100));
  EXPECT_TRUE(blame_.LossExplains(lost, At(101)));
  lost.seen = kRevision + 1;
  EXPECT_FALSE(blame_.LossExplains(lost, At(101)));
}

TEST_F(BlameTest, TheLossOfANodeThatHasStoppedExplainsNothing) {
  BreakByExit();
  Node lost = LostStream(Member("b"), At(100));
  lost.part = Part::kStopped;
  EXPECT_FALSE(blame_.LossExplains(lost, At(101)));
}

TEST_F(BlameTest, TheNodeThatReportedTheFailureOutlivedIt) {
  BreakByExit();
  EXPECT_FALSE(blame_.LossExplains(LostStream(Member("a"), At(100)), At(101)));
}

TEST_F(BlameTest, AConnectedNodeThatReportsExplainsNothing) {
  BreakByExit();
  Node node = Member("b");
  node.heard = At(105);
  EXPECT_FALSE(blame_.LossExplains(node, At(106)));
  EXPECT_TRUE(blame_.LossExplains(node, At(110)));  // node b's lease is over
  node.heard = At(100);  // node b has been silent since the break
  EXPECT_TRUE(blame_.LossExplains(node, At(106)));
}

TEST_F(BlameTest, ALossBecomesTheFinalCause) {
  BreakByExit();
  blame_.MoveToLoss(Of(FailureKind::kNodeLost, -1));
  EXPECT_FALSE(blame_.provisional());
  EXPECT_EQ(blame_.failures().cause()->kind, FailureKind::kNodeLost);
  EXPECT_FALSE(blame_.LossExplains(LostStream(Member("c"), At(100)), At(101)));
}

TEST_F(BlameTest, LeavingExplainsOnlyWithoutSuccessInThisRound) {
  BreakByExit();
  Node leaving = Member("b");
  EXPECT_TRUE(blame_.LeaveExplains(leaving, 3));
  leaving.phase = NodePhase::kSucceeded;
  leaving.round = 3;
  EXPECT_FALSE(blame_.LeaveExplains(leaving, 3));
  EXPECT_TRUE(blame_.LeaveExplains(leaving, 4));
  leaving.part = Part::kNone;
  EXPECT_FALSE(blame_.LeaveExplains(leaving, 4));
}

TEST_F(BlameTest, APreemptionOfASpareExplainsNothing) {
  BreakByExit();
  Node node = Member("b");
  EXPECT_TRUE(blame_.PreemptionExplains(node));
  node.part = Part::kNone;
  EXPECT_FALSE(blame_.PreemptionExplains(node));
  node.part = Part::kRunning;
  node.seen = kRevision + 1;
  EXPECT_FALSE(blame_.PreemptionExplains(node));
}

TEST_F(BlameTest, TheHangThatBeganEarlierIsLikelier) {
  // At second 100 the worker of node a has been silent for 30 s, that is, since
  // second 70.
  BreakBy(Hung("a", seconds(30)));
  EXPECT_FALSE(blame_.MovesTo(Hung("b", seconds(25)), At(101)));
  const Failure earlier = Hung("b", seconds(35));
  const auto move = blame_.MovesTo(earlier, At(101));
  ASSERT_TRUE(move.has_value());
  EXPECT_STREQ(move->decision, "hang");
  blame_.MoveTo(earlier, "b hangs", At(101));
  EXPECT_EQ(blame_.why(), "b hangs");
  EXPECT_EQ(blame_.failures().cause()->node_id, "b");
  EXPECT_FALSE(blame_.MovesTo(Hung("c", seconds(35)), At(101)));
  // The cause is now the hang of node b. A loss of node a explains this hang:
  // node a does not know yet that the round is broken, so it may have been lost
  // before the break. A loss of node b does not: node b was alive after the
  // hang, because it reported the hang.
  EXPECT_TRUE(blame_.LossExplains(LostStream(Member("a"), At(101)), At(102)));
  EXPECT_FALSE(blame_.LossExplains(LostStream(Member("b"), At(101)), At(102)));
}

TEST_F(BlameTest, AStoppedWorkerIsLikelierThanAnEarlierHang) {
  BreakBy(Hung("a", seconds(30)));
  const Failure stopped = Hung("b", seconds(5), SIGSTOP);
  ASSERT_TRUE(blame_.MovesTo(stopped, At(101)).has_value());
  blame_.MoveTo(stopped, "b is stopped", At(101));
  EXPECT_FALSE(blame_.MovesTo(Hung("c", seconds(60)), At(102)));
  EXPECT_TRUE(blame_.MovesTo(Hung("c", seconds(60), SIGSTOP), At(102)));
}

TEST_F(BlameTest, AHangDoesNotExplainAnExit) {
  BreakByExit();
  EXPECT_FALSE(blame_.MovesTo(Hung("b", seconds(60)), At(101)));
}

TEST_F(BlameTest, AnEarlierExceptionOnTheNodeExplainsAnExit) {
  BreakByExit();
  const auto move = blame_.MovesTo(RaisedFirst("a", "KeyError: 1"), At(101));
  ASSERT_TRUE(move.has_value());
  EXPECT_STREQ(move->decision, "blame");
  Failure later = RaisedFirst("a", "KeyError: 1");
  later.raised_first = false;
  EXPECT_FALSE(blame_.MovesTo(later, At(101)));
  EXPECT_FALSE(blame_.MovesTo(RaisedFirst("a", "Broken pipe"), At(101)));
}

TEST_F(BlameTest, OnAnotherNodeAnExceptionExplainsOnlyABrokenConnection) {
  BreakByExit();
  EXPECT_FALSE(blame_.MovesTo(RaisedFirst("b", "KeyError: 1"), At(101)));
  blame_.Clear();
  Failure broken = OnNode(Of(FailureKind::kExitCode, 0), "a");
  broken.message = "RuntimeError: Connection reset by peer";
  BreakBy(broken);
  EXPECT_TRUE(blame_.MovesTo(RaisedFirst("b", "KeyError: 1"), At(101)));
}

TEST_F(BlameTest, AnExceptionOnAnotherNodeExplainsABreakThatStderrTells) {
  BreakBy(LostItsPeer("a"));
  EXPECT_TRUE(blame_.MovesTo(RaisedFirst("b", "KeyError: 1"), At(101)));
}

// An earlier coordinator has ended the round because the worker of rank 3
// exited with code 12.
TEST(ToldBlame, TheCauseIsTheFailureThatTheReasonBeginsWith) {
  for (const char* const remarks : {"", "; before that, the network failed"}) {
    Blame blame;
    Failure cause = OnNode(Of(FailureKind::kExitCode, 3), "a");
    cause.message = "exit code 12";
    blame.Tell(Describe(cause) + remarks);
    Failure other = cause;
    other.message = "exit code 1";
    blame.Add(other);
    EXPECT_EQ(blame.failures().cause(), std::nullopt);
    blame.Add(cause);
    ASSERT_TRUE(blame.failures().cause().has_value());
    EXPECT_EQ(blame.failures().cause()->message, "exit code 12");
    EXPECT_EQ(blame.failures().collateral().size(), 1u);
  }
}

TEST(ToldBlame, FailuresThatAreKnownBeforeStay) {
  Blame blame;
  const Failure first = OnNode(Of(FailureKind::kExitCode, 1), "a");
  const Failure second = OnNode(Of(FailureKind::kExitCode, 2), "b");
  blame.Add(first);
  blame.Add(second);
  blame.Tell(Describe(second));
  ASSERT_TRUE(blame.failures().cause().has_value());
  EXPECT_EQ(blame.failures().cause()->node_id, "b");
  ASSERT_EQ(blame.failures().collateral().size(), 1u);
  EXPECT_EQ(blame.failures().collateral()[0].node_id, "a");
}

TEST_F(BlameTest, AKilledWorkerExplainsABrokenConnection) {
  BreakBy(LostItsPeer("a"));
  const auto move = blame_.MovesTo(Killed("b"), At(101));
  ASSERT_TRUE(move.has_value());
  EXPECT_STREQ(move->decision, "blame");
  blame_.MoveTo(Killed("b"), "b's worker is killed", At(101));
  EXPECT_EQ(blame_.failures().cause()->node_id, "b");
  EXPECT_FALSE(blame_.MovesTo(Killed("c"), At(101)));
}

TEST_F(BlameTest, ASignalThatFollowsABrokenConnectionExplainsNothing) {
  BreakBy(LostItsPeer("a"));
  Failure signalled = Killed("b");
  for (const int signal : {SIGABRT, SIGTERM, SIGINT, SIGPIPE}) {
    signalled.signal = signal;
    EXPECT_FALSE(blame_.MovesTo(signalled, At(101))) << signal;
  }
  for (const int signal : {SIGKILL, SIGBUS, SIGILL, SIGFPE, SIGSEGV}) {
    signalled.signal = signal;
    EXPECT_TRUE(blame_.MovesTo(signalled, At(101))) << signal;
  }
}

TEST_F(BlameTest, AWorkerThatMusterKilledExplainsNothing) {
  BreakBy(LostItsPeer("a"));
  Failure killed = Killed("b");
  killed.kind = FailureKind::kStoppedByUs;
  EXPECT_FALSE(blame_.MovesTo(killed, At(101)));
}

TEST_F(BlameTest, AKilledWorkerExplainsNoOtherExit) {
  BreakByExit();
  EXPECT_FALSE(blame_.MovesTo(Killed("b"), At(101)));
  blame_.Clear();
  Failure aborted = LostItsPeer("a");
  aborted.kind = FailureKind::kSignal;
  aborted.signal = SIGABRT;
  BreakBy(aborted);
  EXPECT_FALSE(blame_.MovesTo(Killed("b"), At(101)));
}

TEST_F(BlameTest, AnExceptionExplainsNoCauseThatIsNoWorker) {
  // A failure of the node itself (rank -1) is not in the failure log.
  const Failure node_failure = OnNode(Of(FailureKind::kStartFailed, -1), "a");
  blame_.Break(At(100), kRevision, "why", &node_failure);
  EXPECT_FALSE(blame_.MovesTo(RaisedFirst("a", "KeyError: 1"), At(101)));
  EXPECT_FALSE(blame_.MovesTo(Killed("b"), At(101)));
}

// A worker of node "a" is killed by SIGKILL.
class BlameKillTest : public BlameTest {
 protected:
  BlameKillTest() {
    const Failure killed = Killed("a");
    BreakBy(killed);
    node_ = &nodes_.Add({.node_id = "a"}, At(0));
    nodes_.SetStream(*node_, 1);
    blame_.SuspectKill(Member("a"), killed, At(100));
  }

  const Instant outlived_ = At(100) + Blame::kKillSpread;
  Membership nodes_;
  Node* node_ = nullptr;
};

TEST_F(BlameKillTest, TheVerdictWaitsUntilTheAgentHasOutlivedTheKill) {
  EXPECT_TRUE(blame_.AwaitsProofOfLife(nodes_, At(100)));
  EXPECT_EQ(blame_.NextDeadline(At(100)), outlived_);
  EXPECT_FALSE(blame_.AwaitsProofOfLife(nodes_, outlived_));
  EXPECT_EQ(blame_.NextDeadline(outlived_), std::nullopt);
}

TEST_F(BlameKillTest, TheVerdictWaitsForADisconnectedAgent) {
  nodes_.SetStream(*node_, 0);
  EXPECT_TRUE(blame_.AwaitsProofOfLife(nodes_, outlived_));
  nodes_.Remove(*node_, Membership::Memory::kMayReturn);
  EXPECT_FALSE(blame_.AwaitsProofOfLife(nodes_, outlived_));
}

TEST_F(BlameKillTest, TheDeathOfTheAgentWithinTheSpreadExplainsTheKill) {
  EXPECT_TRUE(blame_.LossExplains(LostStream(Member("a"), outlived_), At(101)));
  EXPECT_FALSE(blame_.LossExplains(
      LostStream(Member("a"), outlived_ + milliseconds(1)), At(101)));
  EXPECT_FALSE(blame_.LossExplains(Member("a"), At(110)));
}

TEST_F(BlameKillTest, AStandstillPostponesTheProofOnce) {
  blame_.ForgiveStandstill(At(100), At(103));
  EXPECT_EQ(blame_.NextDeadline(At(103)), At(103) + Blame::kKillSpread);
  blame_.ForgiveStandstill(At(103), At(106));
  EXPECT_EQ(blame_.NextDeadline(At(106)), std::nullopt);
}

TEST_F(BlameKillTest, AStandstillAfterTheProofChangesNothing) {
  blame_.ForgiveStandstill(outlived_ + milliseconds(1), At(103));
  EXPECT_EQ(blame_.NextDeadline(At(103)), std::nullopt);
}

TEST_F(BlameTest, OnlyAnUnseenSigkillIsSuspected) {
  BreakByExit();
  Failure killed = Killed("b");
  Node seen = Member("b");
  seen.seen = kRevision + 1;
  blame_.SuspectKill(seen, killed, At(101));
  killed.signal = SIGSEGV;
  blame_.SuspectKill(Member("b"), killed, At(101));
  EXPECT_EQ(blame_.NextDeadline(At(101)), std::nullopt);
  blame_.SuspectKill(Member("b"), Killed("b"), At(101));
  EXPECT_EQ(blame_.NextDeadline(At(101)), At(101) + Blame::kKillSpread);
  // If two nodes are suspected of having been killed, the first suspicion
  // counts.
  blame_.SuspectKill(Member("c"), Killed("c"), At(102));
  EXPECT_EQ(blame_.NextDeadline(At(102)), std::nullopt);
}

TEST_F(BlameTest, ANewRoundForgetsTheBreak) {
  BreakByExit();
  blame_.Clear();
  EXPECT_FALSE(blame_.provisional());
  EXPECT_FALSE(blame_.failures().cause().has_value());
}

}  // namespace
}  // namespace muster::rendezvous
