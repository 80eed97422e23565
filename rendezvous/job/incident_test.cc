#include "rendezvous/job/incident.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace muster::rendezvous {
namespace {

using std::chrono::seconds;

// A round of the nodes "a" and "b" on the machines "host-a" and "host-b" that
// was stopped because it broke.
struct IncidentTest : testing::Test {
  IncidentTest() {
    state.run_id = "job";
    state.round = 3;
    state.world.members = {
        {.node_id = "a", .host = "host-a", .peer = "10.0.0.1"},
        {.node_id = "b", .host = "host-b", .peer = "10.0.0.2"}};
    state.stopping.cause = StopCause::kBroken;
  }

  void Fail(FailureKind kind, const std::string& message = "it failed") {
    Failure failure;
    failure.kind = kind;
    failure.node_id = "b";
    failure.host = "host-b";
    failure.group_rank = 1;
    failure.rank = 1;
    failure.message = message;
    state.blame.Add(failure);
  }

  JobState state;
};

TEST_F(IncidentTest, AChangeOfTheNodesIsNoFailure) {
  Fail(FailureKind::kHung);
  state.stopping.cause = StopCause::kAsked;
  EXPECT_EQ(IncidentOf(state).cause, LossCause::kChange);
  EXPECT_EQ(IncidentOf(state).host, "");
  EXPECT_FALSE(FaultOfCulprit(state).has_value());
}

TEST_F(IncidentTest, AnUnknownCauseIsTheLossOfANode) {
  EXPECT_EQ(IncidentOf(state).cause, LossCause::kNode);
  EXPECT_EQ(IncidentOf(state).host, "");
}

TEST_F(IncidentTest, TheCauseNamesTheHost) {
  Fail(FailureKind::kHung);
  EXPECT_EQ(IncidentOf(state).cause, LossCause::kHang);
  EXPECT_EQ(IncidentOf(state).host, "host-b");
}

TEST_F(IncidentTest, AFailedWorkerIsTheCauseWithoutEvidence) {
  Fail(FailureKind::kExitCode);
  EXPECT_EQ(IncidentOf(state).cause, LossCause::kWorker);
  EXPECT_FALSE(FaultOfCulprit(state).has_value());
}

TEST_F(IncidentTest, TheLossOfOneNodeIsAFaultOfItsMachine) {
  Fail(FailureKind::kNodeLost);
  state.world.lost = 1;
  EXPECT_EQ(IncidentOf(state).cause, LossCause::kNode);
  const auto fault = FaultOfCulprit(state);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, FaultKind::kLost);
  EXPECT_EQ(fault->host, (HostKey{"host-b", "10.0.0.2"}));
  EXPECT_EQ(fault->text, "lost: it failed");
  EXPECT_EQ(fault->run_id, "job");
}

TEST_F(IncidentTest, TheLossOfSeveralNodesIsNoFault) {
  Fail(FailureKind::kNodeLost);
  state.world.lost = 2;
  EXPECT_FALSE(FaultOfCulprit(state).has_value());
}

TEST_F(IncidentTest, TheLossOfTheCoordinatorsProcessIsNoFault) {
  Fail(FailureKind::kNodeLost);
  state.world.lost = 1;
  state.world.members[1].peer = "";
  EXPECT_FALSE(FaultOfCulprit(state).has_value());
}

TEST_F(IncidentTest, APreemptionIsNoFault) {
  Fail(FailureKind::kNodeLost);
  state.world.lost = 1;
  state.preemption = Preemption();
  EXPECT_FALSE(FaultOfCulprit(state).has_value());
}

TEST_F(IncidentTest, AMemberThatHasChangedIsNotBlamed) {
  Fail(FailureKind::kNodeLost);
  state.world.lost = 1;
  state.world.members[1].node_id = "c";
  EXPECT_FALSE(FaultOfCulprit(state).has_value());
}

TEST_F(IncidentTest, AnIncidentIsCountedOnceInTheLedgerAndTheOutbox) {
  Fail(FailureKind::kNodeLost);
  state.world.lost = 1;
  Outbox outbox(&state);
  CountIncident(state, outbox);
  EXPECT_EQ(outbox.Take().faults.size(), 1u);
  EXPECT_EQ(state.ledger.Read(state.round).newest.size(), 1u);
}

TEST_F(IncidentTest, OnlyFailuresInARowDelayTheNextRound) {
  state.stopping.consequence = Consequence::Restart();
  state.clock.since = state.world.began + seconds(1);
  EXPECT_EQ(DelayOfNextRound(state), Duration::zero());
  EXPECT_EQ(DelayOfNextRound(state), Duration::zero());
  EXPECT_GT(DelayOfNextRound(state), Duration::zero());
  state.stopping.consequence = Consequence();
  EXPECT_EQ(DelayOfNextRound(state), Duration::zero());
}

}  // namespace
}  // namespace muster::rendezvous
