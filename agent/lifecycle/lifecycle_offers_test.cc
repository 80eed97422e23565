// Tests of the NCCL ids that a node offers: one before round 1, and a new one
// for each round. Also tests the health checks before each round.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/lifecycle/lifecycle_fixture.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Lifecycle::Config PatientConfig() {
  Lifecycle::Config config = LifecycleFixture::QuickConfig();
  config.nccl_id_timeout = seconds(5);
  return config;
}

void Start(LifecycleFixture& agent, int round, const std::string& nccl_id) {
  rendezvous::Directive directive =
      DirectiveOf(rendezvous::DirectiveKind::kRun);
  directive.place.round = round;
  directive.place.nccl_id = nccl_id;
  if (nccl_id == "theirs") directive.place.group_rank = 1;
  agent.Tell(directive);
}

// Breaks the running round and makes the node idle again.
void Break(LifecycleFixture& agent, int round) {
  agent.TellStop(round);
  agent.Fails(0);
  agent.Fails(1);
  agent.Gone();
}

TEST(LifecycleNcclId, FirstReportDoesNotWaitIfNoIdIsMade) {
  LifecycleFixture agent;
  agent.Connect();
  ASSERT_EQ(agent.reports.size(), 1u);
  EXPECT_EQ(agent.reports[0].offered_nccl_id, "");
}

TEST(LifecycleNcclId, TheFirstReportWaitsForIt) {
  LifecycleFixture agent(PatientConfig());
  agent.Connect();
  agent.Wait(milliseconds(100));
  EXPECT_THAT(agent.reports, IsEmpty());
  agent.Step(NcclIdReady{"id1"});
  ASSERT_EQ(agent.reports.size(), 1u);
  EXPECT_EQ(agent.reports[0].offered_nccl_id, "id1");
}

TEST(LifecycleNcclId, FirstReportWaitsForALimitedTime) {
  LifecycleFixture agent(PatientConfig());
  agent.Connect();
  agent.Wait(milliseconds(4999));
  EXPECT_THAT(agent.reports, IsEmpty());
  agent.Wait(milliseconds(1));
  ASSERT_EQ(agent.reports.size(), 1u);
  EXPECT_EQ(agent.reports[0].offered_nccl_id, "");
  agent.Step(NcclIdReady{"id1"});
  ASSERT_EQ(agent.reports.size(), 2u) << "it is still worth telling";
  EXPECT_EQ(agent.reports[1].offered_nccl_id, "id1");
}

TEST(LifecycleNcclId, WithoutAConnectionNothingIsDueForIt) {
  LifecycleFixture agent(PatientConfig());
  ASSERT_TRUE(agent.lifecycle().NextDeadline().has_value());
  EXPECT_EQ(*agent.lifecycle().NextDeadline() - agent.now(), seconds(20));
}

TEST(LifecycleNcclId, FailureToMakeAnIdEndsTheWait) {
  LifecycleFixture agent(PatientConfig());
  agent.Connect();
  agent.Step(NcclIdMissing{"no NCCL"});
  EXPECT_EQ(agent.reports.size(), 1u);
  EXPECT_THAT(agent.notices, Contains("no NCCL"));
}

TEST(LifecycleNcclId, EachRoundGetsAFreshOne) {
  LifecycleFixture agent;
  agent.Step(NcclIdReady{"id1"});
  agent.Connect();
  Start(agent, 1, "id1");
  ASSERT_EQ(agent.starts.size(), 1u);
  EXPECT_EQ(agent.starts[0].nccl_id, "id1");
  EXPECT_EQ(agent.reports.back().offered_nccl_id, "") << "it is spent";
  agent.Forget();
  agent.Step(NcclIdReady{"id2"});
  EXPECT_THAT(agent.reports, IsEmpty()) << "early enough with the next report";
  Break(agent, 1);
  EXPECT_EQ(agent.reports.back().offered_nccl_id, "id2");
  EXPECT_EQ(agent.renewals, 0);
}

TEST(LifecycleNcclId, LostIdIsWithdrawn) {
  LifecycleFixture agent;
  agent.Step(NcclIdReady{"id1"});
  agent.Connect();
  agent.Forget();
  agent.Step(NcclIdMissing{"its process died"});
  ASSERT_EQ(agent.reports.size(), 1u) << "at once";
  EXPECT_EQ(agent.reports[0].offered_nccl_id, "");
  EXPECT_THAT(agent.notices, Contains("its process died"));
  agent.Step(NcclIdReady{"id2"});
  EXPECT_EQ(agent.reports.back().offered_nccl_id, "id2");
}

TEST(LifecycleNcclId, LostRootGivesANoticeAndStopsNoWorker) {
  LifecycleFixture agent;
  agent.Step(NcclIdReady{"id1"});
  agent.Connect();
  Start(agent, 1, "id1");
  agent.Forget();
  agent.Step(NcclRootLost{"the root (pid 7) was killed"});
  ASSERT_EQ(agent.reports.size(), 1u) << "at once";
  EXPECT_EQ(agent.reports[0].nccl_root_lost, "the root (pid 7) was killed");
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kRunning);
  EXPECT_THAT(agent.signals, IsEmpty());
  EXPECT_THAT(agent.notices,
              Contains(HasSubstr("killed; who has not met the other ranks")));
  Break(agent, 1);
  EXPECT_EQ(agent.reports.back().nccl_root_lost, "the root (pid 7) was killed");
  Start(agent, 2, "id2");
  EXPECT_EQ(agent.reports.back().nccl_root_lost, "");
}

TEST(LifecycleNcclId, LostRootAfterTheRoundGivesNoNotice) {
  LifecycleFixture agent;
  agent.Connect();
  Start(agent, 1, "id1");
  Break(agent, 1);
  agent.Forget();
  agent.Step(NcclRootLost{"the root (pid 7) was killed"});
  EXPECT_THAT(agent.reports, IsEmpty());
  EXPECT_THAT(agent.notices, IsEmpty());
}

TEST(LifecycleNcclId, AnotherNodesIdSpendsNoneOfOurs) {
  LifecycleFixture agent;
  agent.Step(NcclIdReady{"id1"});
  agent.Connect();
  Start(agent, 1, "theirs");
  Break(agent, 1);
  EXPECT_EQ(agent.reports.back().offered_nccl_id, "id1");
  EXPECT_EQ(agent.renewals, 0);
}

TEST(LifecycleNcclId, DistrustedIdIsReplaced) {
  LifecycleFixture agent;
  agent.Step(NcclIdReady{"id1"});
  agent.Connect();
  // The node has offered "id1". It gets group rank 0 in round 3, but the
  // directive has no NCCL id for the round. So an earlier round, which never
  // began on this node, may have used "id1". The node must make a new id.
  Start(agent, 3, "");
  EXPECT_EQ(agent.renewals, 1);
  agent.Step(NcclIdReady{"id2"});
  Break(agent, 3);
  EXPECT_EQ(agent.reports.back().offered_nccl_id, "id2");
}

TEST(LifecycleNcclId, ARoundThatNeverBeganHereMayHaveSpentIt) {
  LifecycleFixture agent;
  agent.Step(NcclIdReady{"id1"});
  agent.Connect();
  // Round 1 is stopped before this node has received the order to run it. Other
  // nodes may have used "id1" in that round, so this node must replace "id1".
  agent.TellStop(1);
  EXPECT_EQ(agent.renewals, 1);
  EXPECT_EQ(agent.reports.back().offered_nccl_id, "");
  agent.Step(NcclIdReady{"id2"});
  EXPECT_EQ(agent.reports.back().offered_nccl_id, "id2");
  agent.Forget();
  Start(agent, 2, "id2");
  Break(agent, 2);
  EXPECT_EQ(agent.renewals, 0);
}

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

TEST(LifecycleFaults, TheNewestAreReportedAtOnce) {
  LifecycleFixture agent;
  agent.Connect();
  for (int i = 1; i <= rendezvous::kMaxNodeFaults + 1; ++i) {
    agent.Step(NodeFaultSeen{.text = "XID 79"});
    ASSERT_TRUE(agent.last_step().report.has_value());
  }
  const std::vector<rendezvous::NodeFault>& faults =
      agent.last_step().report->faults;
  ASSERT_THAT(faults, SizeIs(rendezvous::kMaxNodeFaults));
  EXPECT_EQ(faults.front().ordinal, 2u);
  EXPECT_EQ(faults.front().kind, rendezvous::FaultKind::kXid);
  EXPECT_EQ(faults.front().text, "XID 79");
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
  agent.Step(HealthChecked{agent.checks.back(), ""});
  EXPECT_EQ(agent.last_step().report->health, rendezvous::Health::kHealthy);
}

TEST(LifecycleHealth, AnUnhealthyNodeSaysWhyAndIsLookedAtAgain) {
  LifecycleFixture agent(CheckedConfig());
  agent.Connect();
  agent.TellWait();
  agent.Step(HealthChecked{agent.checks.back(), "no disk"});
  ASSERT_TRUE(agent.last_step().report.has_value());
  EXPECT_EQ(agent.last_step().report->health, rendezvous::Health::kUnhealthy);
  EXPECT_EQ(agent.last_step().report->unhealthy, "no disk");
  EXPECT_THAT(agent.notices, Contains(HasSubstr("unhealthy: no disk")));
  const rendezvous::NodeFault fault{.ordinal = 1,
                                    .kind = rendezvous::FaultKind::kCheck,
                                    .text = "check: no disk"};
  EXPECT_THAT(agent.last_step().report->faults, ElementsAre(fault));
  agent.Wait(seconds(29));
  EXPECT_THAT(agent.checks, SizeIs(1));
  agent.Wait(seconds(1));
  ASSERT_THAT(agent.checks, SizeIs(2));
  // A second check finds the same problem: no new fault is recorded.
  agent.Step(HealthChecked{agent.checks.back(), "still no disk"});
  EXPECT_THAT(agent.last_step().report->faults, ElementsAre(fault));
  agent.Wait(seconds(30));
  agent.Step(HealthChecked{agent.checks.back(), ""});
  EXPECT_EQ(agent.last_step().report->health, rendezvous::Health::kHealthy);
  EXPECT_THAT(agent.notices, Contains("this node is healthy again"));
}

TEST(LifecycleHealth, TheNextRoundNeedsAnotherCheck) {
  LifecycleFixture agent(CheckedConfig());
  agent.Connect();
  agent.Step(HealthChecked{agent.checks.back(), ""});
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
  agent.Step(HealthChecked{agent.checks.back(), ""});
  agent.TellRun(1);
  agent.Up(0);
  agent.Up(1);
  agent.Forget();
  agent.AllDown();
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kSucceeded);
  EXPECT_THAT(agent.checks, IsEmpty());
  EXPECT_EQ(agent.reports.back().health, rendezvous::Health::kUnchecked);
  agent.TellStop(1);
  EXPECT_THAT(agent.checks, SizeIs(1));
}

TEST(LifecycleHealth, ACheckDoesNotGetInTheWorkersWay) {
  LifecycleFixture agent(CheckedConfig());
  agent.Connect();
  agent.Step(HealthChecked{agent.checks.back(), ""});
  agent.TellWait();
  agent.Wait(seconds(30));
  ASSERT_THAT(agent.checks, SizeIs(2));
  EXPECT_EQ(agent.reports.back().health, rendezvous::Health::kHealthy);
  agent.TellRun(1);
  EXPECT_EQ(agent.checks_dropped, 1);
  agent.Step(HealthChecked{agent.checks.back(), "late"});
  EXPECT_EQ(agent.reports.back().unhealthy, "");
}

TEST(LifecycleHealth, LeavingNodeIsNotChecked) {
  LifecycleFixture agent(CheckedConfig());
  agent.Connect();
  agent.TellFinished(0);
  EXPECT_EQ(agent.checks_dropped, 1);
  EXPECT_TRUE(agent.leave.has_value());
}

// A kWait directive that orders the measurement with the number `number`.
rendezvous::Directive Measuring(uint64_t number) {
  rendezvous::Directive directive =
      DirectiveOf(rendezvous::DirectiveKind::kWait);
  directive.pair_check = rendezvous::PairCheck{
      .number = number, .partner = "b", .address = "10.0.0.2", .port = 4000};
  return directive;
}

PairMeasured Measured(const LifecycleFixture& agent) {
  const MeasurePair& asked = agent.measurements.back();
  return {{.epoch = asked.epoch,
           .number = asked.check.number,
           .round_trip_s = 0.001,
           .bytes_per_s = 1e9}};
}

TEST(LifecyclePairCheck, AMeasurementIsBegunOnceAndReported) {
  LifecycleFixture agent;
  agent.Connect();
  agent.Tell(Measuring(1));
  ASSERT_THAT(agent.measurements, SizeIs(1));
  EXPECT_EQ(agent.measurements[0].check.partner, "b");
  agent.TellSame(Measuring(1));
  agent.Wait(seconds(1));
  EXPECT_THAT(agent.measurements, SizeIs(1));
  EXPECT_FALSE(agent.reports.back().measurement.has_value());
  agent.Step(Measured(agent));
  ASSERT_TRUE(agent.last_step().report.has_value());
  EXPECT_EQ(agent.last_step().report->measurement->number, 1u);
  agent.Wait(seconds(2));
  EXPECT_TRUE(agent.reports.back().measurement.has_value());
  agent.Tell(Measuring(2));
  EXPECT_THAT(agent.measurements, SizeIs(2));
  EXPECT_EQ(agent.measurements_dropped, 0);
  agent.Wait(seconds(2));
  EXPECT_FALSE(agent.reports.back().measurement.has_value());
}

TEST(LifecyclePairCheck, AResultThatIsNotAwaitedIsIgnored) {
  LifecycleFixture agent;
  agent.Connect();
  agent.Tell(Measuring(1));
  const PairMeasured old = Measured(agent);
  agent.Tell(Measuring(2));
  agent.Step(old);
  EXPECT_FALSE(agent.last_step().report.has_value());
  agent.Wait(seconds(2));
  EXPECT_FALSE(agent.reports.back().measurement.has_value());
}

TEST(LifecyclePairCheck, AMeasurementDoesNotRunBesideWorkers) {
  LifecycleFixture agent;
  agent.Connect();
  agent.Tell(Measuring(1));
  agent.TellRun(1);
  EXPECT_EQ(agent.measurements_dropped, 1);
  agent.Step(Measured(agent));
  EXPECT_FALSE(agent.reports.back().measurement.has_value());
  agent.Tell(Measuring(2));
  EXPECT_THAT(agent.measurements, SizeIs(1)) << "its workers are being stopped";
}

TEST(LifecyclePairCheck, AWithdrawnMeasurementIsDropped) {
  LifecycleFixture agent;
  agent.Connect();
  agent.Tell(Measuring(1));
  agent.TellWait();
  EXPECT_EQ(agent.measurements_dropped, 1);
  agent.TellWait();
  EXPECT_EQ(agent.measurements_dropped, 1);
}

TEST(LifecyclePairCheck, TheFaultIsRepeatedInReports) {
  LifecycleFixture agent;
  agent.Connect();
  rendezvous::Directive bad = DirectiveOf(rendezvous::DirectiveKind::kWait);
  bad.check_fault = "slow in the check by pairs: 1 MB/s with b";
  agent.Tell(bad);
  EXPECT_THAT(agent.notices, Contains(HasSubstr("this node is slow in the")));
  agent.Wait(seconds(2));
  EXPECT_EQ(agent.reports.back().check_fault, bad.check_fault);
  // Sends a directive of a new coordinator, which does not know yet that this
  // node was found bad.
  agent.Tell(DirectiveOf(rendezvous::DirectiveKind::kHold));
  agent.Wait(seconds(2));
  EXPECT_EQ(agent.reports.back().check_fault, bad.check_fault);
  agent.TellWait();
  agent.Wait(seconds(2));
  EXPECT_EQ(agent.reports.back().check_fault, "");
  EXPECT_THAT(agent.notices, Contains("this node is good in the check by "
                                      "pairs"));
}

}  // namespace
}  // namespace muster::agent
