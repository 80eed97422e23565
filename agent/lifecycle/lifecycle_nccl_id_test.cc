// Tests of the NCCL id that a node offers: one before round 1, and a new one
// for each round.

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
  config.nccl_id_patience = seconds(5);
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

TEST(LifecycleNcclId, NobodyWaitsWhereNoneIsMade) {
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
  agent.Step(NcclIdHeld{"id1"});
  ASSERT_EQ(agent.reports.size(), 1u);
  EXPECT_EQ(agent.reports[0].offered_nccl_id, "id1");
}

TEST(LifecycleNcclId, ButNotForLong) {
  LifecycleFixture agent(PatientConfig());
  agent.Connect();
  agent.Wait(milliseconds(4999));
  EXPECT_THAT(agent.reports, IsEmpty());
  agent.Wait(milliseconds(1));
  ASSERT_EQ(agent.reports.size(), 1u);
  EXPECT_EQ(agent.reports[0].offered_nccl_id, "");
  agent.Step(NcclIdHeld{"id1"});
  ASSERT_EQ(agent.reports.size(), 2u) << "it is still worth telling";
  EXPECT_EQ(agent.reports[1].offered_nccl_id, "id1");
}

TEST(LifecycleNcclId, WithoutAConnectionNothingIsDueForIt) {
  LifecycleFixture agent(PatientConfig());
  ASSERT_TRUE(agent.lifecycle().NextDeadline().has_value());
  EXPECT_EQ(*agent.lifecycle().NextDeadline() - agent.now(), seconds(20));
}

TEST(LifecycleNcclId, NorWhereItFails) {
  LifecycleFixture agent(PatientConfig());
  agent.Connect();
  agent.Step(NcclIdMissing{"no NCCL"});
  EXPECT_EQ(agent.reports.size(), 1u);
  EXPECT_THAT(agent.notices, Contains("no NCCL"));
}

TEST(LifecycleNcclId, EachRoundGetsAFreshOne) {
  LifecycleFixture agent;
  agent.Step(NcclIdHeld{"id1"});
  agent.Connect();
  Start(agent, 1, "id1");
  ASSERT_EQ(agent.starts.size(), 1u);
  EXPECT_EQ(agent.starts[0].nccl_id, "id1");
  EXPECT_EQ(agent.reports.back().offered_nccl_id, "") << "it is spent";
  agent.Forget();
  agent.Step(NcclIdHeld{"id2"});
  EXPECT_THAT(agent.reports, IsEmpty()) << "early enough with the next report";
  Break(agent, 1);
  EXPECT_EQ(agent.reports.back().offered_nccl_id, "id2");
  EXPECT_EQ(agent.renewals, 0);
}

TEST(LifecycleNcclId, OneThatIsLostIsOfferedNoMore) {
  LifecycleFixture agent;
  agent.Step(NcclIdHeld{"id1"});
  agent.Connect();
  agent.Forget();
  agent.Step(NcclIdMissing{"its process died"});
  ASSERT_EQ(agent.reports.size(), 1u) << "at once";
  EXPECT_EQ(agent.reports[0].offered_nccl_id, "");
  EXPECT_THAT(agent.notices, Contains("its process died"));
  agent.Step(NcclIdHeld{"id2"});
  EXPECT_EQ(agent.reports.back().offered_nccl_id, "id2");
}

TEST(LifecycleNcclId, ALostRootIsToldAndStopsNobody) {
  LifecycleFixture agent;
  agent.Step(NcclIdHeld{"id1"});
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

TEST(LifecycleNcclId, ALostRootMattersToNobodyOnceTheRoundIsOver) {
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
  agent.Step(NcclIdHeld{"id1"});
  agent.Connect();
  Start(agent, 1, "theirs");
  Break(agent, 1);
  EXPECT_EQ(agent.reports.back().offered_nccl_id, "id1");
  EXPECT_EQ(agent.renewals, 0);
}

TEST(LifecycleNcclId, WhatTheCoordinatorDoesNotTrustIsMadeAnew) {
  LifecycleFixture agent;
  agent.Step(NcclIdHeld{"id1"});
  agent.Connect();
  Start(agent, 3, "");  // this node has group rank 0
  EXPECT_EQ(agent.renewals, 1);
  agent.Step(NcclIdHeld{"id2"});
  Break(agent, 3);
  EXPECT_EQ(agent.reports.back().offered_nccl_id, "id2");
}

TEST(LifecycleNcclId, ARoundThatNeverBeganHereMayHaveSpentIt) {
  LifecycleFixture agent;
  agent.Step(NcclIdHeld{"id1"});
  agent.Connect();
  agent.TellStop(1);  // the order to run it was lost
  EXPECT_EQ(agent.renewals, 1);
  EXPECT_EQ(agent.reports.back().offered_nccl_id, "");
  agent.Step(NcclIdHeld{"id2"});
  EXPECT_EQ(agent.reports.back().offered_nccl_id, "id2");
  agent.Forget();
  Start(agent, 2, "id2");
  Break(agent, 2);
  EXPECT_EQ(agent.renewals, 0);
}

}  // namespace
}  // namespace muster::agent
