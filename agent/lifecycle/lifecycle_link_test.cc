// Tests of the connection to the coordinator: reports, stale directives, an
// absent coordinator.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <string>

#include "agent/lifecycle/lifecycle_fixture.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// The agent's exit code; nullopt: the agent does not exit.
std::optional<int> ExitCode(const LifecycleFixture& agent) {
  if (!agent.leave.has_value()) return std::nullopt;
  return agent.leave->exit_code;
}

TEST(LifecycleReports, BeginWithTheConnectionAndHoldTheWholeTruth) {
  LifecycleFixture agent;
  agent.Step(PortHeld{29500});
  EXPECT_THAT(agent.reports, IsEmpty());
  agent.Connect();
  ASSERT_EQ(agent.reports.size(), 1u);
  const rendezvous::Report& report = agent.reports[0];
  EXPECT_EQ(report.run_id, "train");
  EXPECT_EQ(report.node.node_id, "a");
  EXPECT_EQ(report.node.address, "10.0.0.1");
  EXPECT_EQ(report.sequence, 1u);
  EXPECT_EQ(report.offered_master_port, 29500);
  EXPECT_EQ(report.spec.shutdown_timeout, seconds(10));
}

TEST(LifecycleReports, HoldTheAgeOfTheJob) {
  LifecycleFixture agent;
  agent.Connect();
  EXPECT_EQ(agent.reports.back().job_age, Duration::zero());
  rendezvous::Directive wait = DirectiveOf(rendezvous::DirectiveKind::kWait);
  agent.Tell(wait);
  agent.Wait(seconds(2));
  EXPECT_EQ(agent.reports.back().job_age, Duration::zero());
  wait.job_age = seconds(100);
  agent.Tell(wait);
  agent.Wait(seconds(5));
  EXPECT_EQ(agent.reports.back().job_age, seconds(105));
  // A new coordinator's directive gives a smaller job age: 2 s, the time since
  // this coordinator itself started, or zero if the coordinator does not know
  // the age. The agent continues to report the larger age, 105 s.
  for (const Duration age : {Duration(seconds(2)), Duration::zero()}) {
    wait.job_age = age;
    agent.Tell(wait);
    agent.Disconnect();
    agent.Connect();
    EXPECT_EQ(agent.reports.back().job_age, seconds(105));
  }
}

// An order to begin round 1 that was sent as the answer to report number
// `report`.
rendezvous::Directive OrderAnswering(uint64_t report) {
  rendezvous::Directive order = DirectiveOf(rendezvous::DirectiveKind::kRun);
  order.place.round = 1;
  order.answered_report = report;
  return order;
}

// A delayed order to begin a round is not obeyed: the coordinator that sent it
// may have been lost since, and the next coordinator may have begun another
// world without this node.
TEST(LifecycleOrders, AnOrderThatWasDelayedTooLongBeginsNoRound) {
  const Duration life = LifecycleFixture::QuickConfig().spec.order_life();
  LifecycleFixture agent;
  agent.Connect();
  agent.TellWait();
  const rendezvous::Directive late =
      OrderAnswering(agent.reports.back().sequence);
  agent.Wait(life + milliseconds(1));
  const size_t reports = agent.reports.size();
  agent.Tell(late);
  EXPECT_THAT(agent.starts, IsEmpty());
  ASSERT_EQ(agent.reports.size(), reports + 1);
  EXPECT_EQ(agent.reports.back().seen_revision, 0u);
  agent.Tell(late);
  EXPECT_THAT(agent.starts, IsEmpty());
  agent.Tell(OrderAnswering(agent.reports.back().sequence));
  EXPECT_EQ(agent.starts.size(), 1u);
}

TEST(LifecycleOrders, AnOrderFromBeforeASuspensionBeginsNoRound) {
  const Duration life = LifecycleFixture::QuickConfig().spec.order_life();
  LifecycleFixture agent;
  agent.Connect();
  agent.TellWait();
  const rendezvous::Directive late =
      OrderAnswering(agent.reports.back().sequence);
  agent.PassTimeSuspended(life + milliseconds(1));
  agent.Tell(late);
  EXPECT_THAT(agent.starts, IsEmpty());
  EXPECT_EQ(agent.reports.back().seen_revision, 0u);
}

TEST(LifecycleOrders, AnOrderThatWasDelayedForItsLifeBeginsARound) {
  const Duration life = LifecycleFixture::QuickConfig().spec.order_life();
  LifecycleFixture agent;
  agent.Connect();
  agent.TellWait();
  const rendezvous::Directive late =
      OrderAnswering(agent.reports.back().sequence);
  agent.Wait(life);
  agent.Tell(late);
  EXPECT_EQ(agent.starts.size(), 1u);
}

// A coordinator of an older version does not say which report an order answers.
// Such an order is obeyed.
TEST(LifecycleOrders, AnOrderThatAnswersNoReportBeginsARound) {
  LifecycleFixture agent;
  agent.Connect();
  agent.TellWait();
  agent.Tell(OrderAnswering(0));
  EXPECT_EQ(agent.starts.size(), 1u);
}

TEST(LifecycleSuspension, ItsWorkersRunOn) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.PassTimeSuspended(std::chrono::minutes(1));
  agent.TellRun(1);
  EXPECT_FALSE(agent.last_step().reconnect.has_value());
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kRunning);
}

TEST(LifecycleReports, HoldThePlaceWithoutItsSecretsOnceARoundHasBegun) {
  LifecycleFixture agent;
  agent.Connect();
  EXPECT_FALSE(agent.reports.back().place.has_value());
  rendezvous::Directive run = DirectiveOf(rendezvous::DirectiveKind::kRun);
  run.place.round = 1;
  run.place.run_tag = "tag";
  run.place.nccl_id = "0a";
  run.place.channel_key = "key";
  run.place.store_clients = {"10.0.0.1"};
  run.restarts_used = 2;
  agent.Tell(run);
  EXPECT_EQ(agent.starts.back().channel_key, "key");
  const rendezvous::Report& report = agent.reports.back();
  ASSERT_TRUE(report.place.has_value());
  EXPECT_EQ(report.place->run_tag, "tag");
  EXPECT_EQ(report.place->round, 1);
  EXPECT_EQ(report.place->nccl_id, "");
  EXPECT_EQ(report.place->channel_key, "");
  EXPECT_THAT(report.place->store_clients, testing::IsEmpty());
  EXPECT_EQ(report.restarts_used, 2);
}

TEST(LifecycleReports, TellHowTheCoordinatorEndedTheRound) {
  LifecycleFixture agent;
  agent.Connect();
  agent.Run(1);
  EXPECT_FALSE(agent.reports.back().round_end.has_value());
  agent.TellStop(1);
  ASSERT_TRUE(agent.reports.back().round_end.has_value());
  EXPECT_EQ(agent.reports.back().round_end->reason, "rank 0 on b: exit code 3");
  agent.AllDown();
  EXPECT_TRUE(agent.reports.back().round_end.has_value());
  agent.TellRun(2);
  EXPECT_FALSE(agent.reports.back().round_end.has_value());
}

TEST(LifecycleReports, ADirectiveToHoldKeepsTheWorkers) {
  LifecycleFixture agent;
  agent.Connect();
  agent.Run(1);
  agent.Tell(DirectiveOf(rendezvous::DirectiveKind::kHold));
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kRunning);
  EXPECT_FALSE(agent.reports.back().round_end.has_value());
}

TEST(LifecycleReports, HoldTheAddressesOfTheNewestConnection) {
  LifecycleFixture agent;
  agent.Step(LinkUp{"10.0.0.1", {"10.0.0.1", "10.1.0.1"}});
  EXPECT_THAT(agent.reports.back().addresses,
              ElementsAre("10.0.0.1", "10.1.0.1"));
  agent.Step(LinkUp{"10.0.0.1", {"10.2.0.1"}});
  EXPECT_THAT(agent.reports.back().addresses, ElementsAre("10.2.0.1"));
}

TEST(LifecycleReports, AGivenAddressStays) {
  Lifecycle::Config config = LifecycleFixture::QuickConfig();
  config.node.address = "fd00::7";
  LifecycleFixture agent(config);
  agent.Connect();
  EXPECT_EQ(agent.reports[0].node.address, "fd00::7");
}

TEST(LifecycleReports, AreRepeatedAtTheKeepAlive) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Forget();
  agent.Wait(milliseconds(999));
  EXPECT_THAT(agent.reports, IsEmpty());
  agent.Wait(milliseconds(1));
  EXPECT_EQ(agent.reports.size(), 1u);
  agent.Wait(seconds(9));
  ASSERT_EQ(agent.reports.size(), 10u);
  for (size_t i = 1; i < agent.reports.size(); ++i) {
    EXPECT_EQ(agent.reports[i].sequence, agent.reports[i - 1].sequence + 1);
  }
}

TEST(LifecycleReports, AreNotSentWithoutAConnection) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Disconnect();
  agent.Forget();
  agent.Wait(seconds(5));
  agent.Fails(0);
  EXPECT_THAT(agent.reports, IsEmpty());
  agent.Connect();
  ASSERT_EQ(agent.reports.size(), 1u);
  EXPECT_EQ(agent.reports[0].failures.size(), 1u);
}

TEST(LifecycleReports, NameTheNewestDirectiveSeen) {
  LifecycleFixture agent;
  agent.Connect();
  EXPECT_EQ(agent.reports.back().seen_epoch, 0u);
  agent.TellWait();
  agent.TellRun(1);
  EXPECT_EQ(agent.reports.back().seen_epoch, 7u);
  EXPECT_EQ(agent.reports.back().seen_revision, 2u);
}

TEST(LifecycleReports, AskForAnAnswerUntilOneComes) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Disconnect();
  agent.Connect();
  EXPECT_EQ(agent.reports.back().seen_epoch, 0u);
  agent.Wait(seconds(1));
  EXPECT_EQ(agent.reports.back().seen_epoch, 0u);
  agent.TellRun(1);
  agent.Wait(seconds(1));
  EXPECT_EQ(agent.reports.back().seen_epoch, 7u);
}

TEST(LifecycleReports, AnIdleNodeReportsItsPortAtOnce) {
  LifecycleFixture agent;
  agent.Connect();
  agent.Forget();
  agent.Step(PortHeld{29501});
  EXPECT_EQ(agent.reports.size(), 1u);
  agent.Step(PortHeld{29501});
  EXPECT_EQ(agent.reports.size(), 1u);
}

TEST(LifecycleDirectives, AnOlderOneIsDropped) {
  LifecycleFixture agent;
  agent.Connect();
  rendezvous::Directive stop = DirectiveOf(rendezvous::DirectiveKind::kStop);
  stop.epoch = 7;
  stop.revision = 0;
  stop.stop.round = 1;
  agent.TellRun(1);
  agent.Step(DirectiveCame{stop});
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kRunning);
  EXPECT_THAT(agent.signals, IsEmpty());
}

TEST(LifecycleDirectives, AnotherLifeOfTheCoordinatorCountsAnew) {
  LifecycleFixture agent;
  agent.Run(6);
  rendezvous::Directive stop = DirectiveOf(rendezvous::DirectiveKind::kStop);
  stop.epoch = 8;
  stop.revision = 1;
  stop.stop = {.round = 6, .grace = seconds(1)};
  agent.Tell(DirectiveOf(rendezvous::DirectiveKind::kRun));
  agent.Step(DirectiveCame{stop});
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
}

TEST(LifecycleDirectives, TheReasonForWaitingIsShownOnceEach) {
  LifecycleFixture agent;
  agent.Connect();
  agent.TellWait();
  agent.TellWait();
  EXPECT_THAT(agent.notices, ElementsAre("waiting: 1 of 2 nodes here"));
}

TEST(LifecycleAbsence, CoordinatorThatNeverComesEndsTheAgent) {
  LifecycleFixture agent;
  agent.Disconnect(absl::UnavailableError("connection refused"));
  agent.Disconnect(absl::UnavailableError("connection refused"));
  agent.Wait(milliseconds(1999));
  EXPECT_THAT(agent.notices, IsEmpty());
  agent.Wait(milliseconds(1));
  EXPECT_THAT(agent.notices,
              ElementsAre("no coordinator at head:29400 yet (connection "
                          "refused); trying for 20 s"));
  // The user has been notified once that no coordinator answers. Another failed
  // attempt to connect gives no second notice.
  agent.Disconnect(absl::UnavailableError("closed"));
  agent.Disconnect(absl::UnavailableError("connection refused"));
  EXPECT_EQ(agent.notices.size(), 1u);
  agent.Wait(milliseconds(17'999));
  EXPECT_FALSE(agent.leave.has_value());
  agent.Wait(milliseconds(1));
  ASSERT_EQ(ExitCode(agent), 1);
  EXPECT_EQ(agent.leave->reason,
            "no answer from the coordinator at head:29400 for 20 s: connection "
            "refused");
}

// The nodes of a job start together. The coordinator may therefore begin to
// listen a moment after a node's first attempt to connect. The user gets no
// notice about this attempt.
TEST(LifecycleAbsence, OtherNodesAreTriedOnceTheFirstEndpointIsSilentFor2s) {
  Lifecycle::Config config = LifecycleFixture::QuickConfig();
  config.other_endpoints = {"b:1", "c:1"};
  LifecycleFixture agent(config);
  agent.Wait(milliseconds(1999));
  agent.Disconnect();
  EXPECT_EQ(agent.last_step().standbys, std::nullopt);
  agent.Wait(milliseconds(1));
  agent.Disconnect();
  EXPECT_EQ(agent.last_step().standbys, config.other_endpoints);
  agent.Disconnect();
  EXPECT_EQ(agent.last_step().standbys, std::nullopt) << "unchanged";
  // They are still tried besides the standbys that a coordinator names.
  agent.Step(LinkUp{.coordinator = "b:1"});
  rendezvous::Directive wait = DirectiveOf(rendezvous::DirectiveKind::kWait);
  wait.electorate = {.epoch = 7, .world = {.epoch = 7, .round = 1}, .nodes = 3};
  wait.standbys = {"d:1", "b:1"};
  agent.Tell(wait);
  EXPECT_EQ(agent.last_step().standbys,
            (std::vector<std::string>{"d:1", "b:1", "c:1"}));
}

TEST(LifecycleAbsence, CoordinatorThatIsAMomentLateGivesNoNotice) {
  LifecycleFixture agent;
  agent.Disconnect(absl::UnavailableError("connection refused"));
  agent.Wait(seconds(1));
  agent.Connect();
  agent.TellWait();
  agent.Wait(seconds(5));
  EXPECT_THAT(agent.notices, ElementsAre("waiting: 1 of 2 nodes here"));
}

TEST(LifecycleAbsence, CoordinatorThatNeverAnswersEndsTheAgent) {
  LifecycleFixture agent;
  agent.Connect();
  agent.Wait(seconds(20));
  EXPECT_EQ(agent.leave->exit_code, 1);
}

TEST(LifecycleAbsence, IsRiddenOutWithTheWorkersRunning) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Disconnect();
  EXPECT_THAT(agent.notices,
              Contains("lost the coordinator at head:29400 (reset); the "
                       "workers run on; trying again for 30 s"));
  for (int i = 0; i < 29; ++i) {
    agent.Wait(seconds(1));
    agent.Disconnect();
  }
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kRunning);
  agent.Connect();
  agent.TellRun(1);
  agent.Wait(seconds(40));
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kRunning);
  EXPECT_THAT(agent.signals, IsEmpty());
}

TEST(LifecycleAbsence, TooLongAbsenceStopsTheWorkers) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Disconnect();
  agent.Wait(seconds(30));
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
  EXPECT_THAT(agent.signals, ElementsAre(SIGTERM));
  agent.Wait(seconds(10));
  EXPECT_THAT(agent.signals, ElementsAre(SIGTERM, SIGKILL));
  agent.Fails(0);
  agent.Fails(1);
  agent.Gone();
  ASSERT_EQ(ExitCode(agent), 1);
  EXPECT_THAT(agent.leave->reason, HasSubstr("for 30 s"));
}

TEST(LifecycleAbsence, AFailureOfThisNodeIsItsExitCode) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Disconnect();
  agent.FailsByItself(1);
  agent.Down(0);
  agent.Gone();
  agent.Wait(seconds(30));
  ASSERT_EQ(ExitCode(agent), 3);
  EXPECT_THAT(agent.leave->reason, StartsWith("rank 3: "));
  EXPECT_THAT(agent.leave->reason, HasSubstr("for 30 s"));
}

TEST(LifecycleAbsence, AFailureOfARoundThatTheCoordinatorEndedIsNot) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.FailsByItself(1);
  agent.TellStop(1);
  agent.Down(0);
  agent.Gone();
  agent.Disconnect();
  agent.Wait(seconds(30));
  ASSERT_EQ(ExitCode(agent), 1);
}

TEST(LifecycleAbsence, AnExitCodeThatTheCoordinatorHasToldHolds) {
  LifecycleFixture agent;
  agent.Run(1);
  rendezvous::Directive stop = DirectiveOf(rendezvous::DirectiveKind::kStop);
  stop.reason = "rank 0 on b: exit code 7";
  stop.stop = {.round = 1, .grace = seconds(10), .exit_code = 7};
  agent.Tell(stop);
  agent.Disconnect();
  agent.AllDown();
  agent.Wait(seconds(30));
  ASSERT_EQ(ExitCode(agent), 7);
  EXPECT_THAT(agent.leave->reason, HasSubstr("rank 0 on b"));
}

TEST(LifecycleAbsence, ANodeWhoseWorkersSucceededSucceeds) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Disconnect();
  agent.AllDown();
  agent.Wait(seconds(29));
  EXPECT_FALSE(agent.leave.has_value());
  agent.Wait(seconds(1));
  ASSERT_EQ(ExitCode(agent), 0);
  EXPECT_THAT(agent.leave->reason, HasSubstr("verdict is not known"));
}

// The connection is restored after 29 s of absence, but no directive arrives.
// So the coordinator still counts as absent, and after 30 s the agent gives up.
TEST(LifecycleAbsence, EndsWithADirectiveNotWithAConnection) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Disconnect();
  agent.Wait(seconds(29));
  agent.Connect();
  agent.Wait(seconds(1));
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
  EXPECT_EQ(agent.reports.back().phase, rendezvous::NodePhase::kStopping);
  EXPECT_TRUE(agent.reports.back().leave.has_value());
}

TEST(LifecycleAbsence, ATokenThatIsNotTakenWillNotMend) {
  LifecycleFixture agent;
  agent.Disconnect(absl::UnauthenticatedError("wrong token"));
  ASSERT_TRUE(agent.leave.has_value());
  EXPECT_EQ(agent.leave->reason,
            "the coordinator at head:29400 turned this node away: wrong token");
}

TEST(LifecycleAbsence, ALeavingAgentKnowsNoFurtherDeadline) {
  LifecycleFixture agent;
  agent.Disconnect();
  agent.Wait(seconds(20));
  ASSERT_TRUE(agent.leave.has_value());
  EXPECT_EQ(agent.lifecycle().NextDeadline(), std::nullopt);
}

// The configuration of a node that a cluster starts. If the coordinator of
// another job has refused the node, the agent connects again.
Lifecycle::Config RetryingConfig() {
  Lifecycle::Config config = LifecycleFixture::QuickConfig();
  config.policy.retries_wrong_coordinator = true;
  return config;
}

rendezvous::Directive RefusedAsAnotherJobs(const std::string& why) {
  rendezvous::Directive directive =
      DirectiveOf(rendezvous::DirectiveKind::kRefused);
  directive.reason = why;
  directive.another_job = true;
  return directive;
}

// The coordinator's endpoint may still lead to the coordinator of an ended job,
// whose pod is terminating. The agent then connects again instead of exiting.
TEST(LifecycleWrongCoordinator, IsAskedAgainWhereAClusterStartsTheNodes) {
  LifecycleFixture agent(RetryingConfig());
  agent.Connect();
  agent.Wait(seconds(8));
  agent.Tell(RefusedAsAnotherJobs("it belongs to job b"));
  EXPECT_TRUE(agent.last_step().reconnect.has_value());
  EXPECT_FALSE(agent.lifecycle().connected());
  EXPECT_FALSE(agent.leave.has_value());
  EXPECT_THAT(agent.notices, Contains(HasSubstr("it belongs to job b")));
  agent.Wait(seconds(5));
  agent.Connect();
  EXPECT_FALSE(agent.last_step().reconnect.has_value());
  agent.TellRun(1);
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kRunning);
}

TEST(LifecycleWrongCoordinator, IsAskedForAsLongAsAnAbsentOne) {
  LifecycleFixture agent(RetryingConfig());
  for (int second = 0; second < 19; ++second) {
    agent.Connect();
    agent.Tell(RefusedAsAnotherJobs("it belongs to job b"));
    ASSERT_FALSE(agent.leave.has_value()) << second;
    agent.Wait(seconds(1));
  }
  agent.Wait(seconds(1));
  ASSERT_EQ(ExitCode(agent), 1);
  EXPECT_THAT(agent.leave->reason, HasSubstr("it belongs to job b"));
}

// The coordinator of another job may use a different token and refuse this
// node's token. The agent then connects again.
TEST(LifecycleWrongCoordinator, IsAskedAgainIfItTakesAnotherToken) {
  LifecycleFixture agent(RetryingConfig());
  for (int second = 0; second < 20; ++second) {
    agent.Disconnect(absl::UnauthenticatedError("wrong token"));
    ASSERT_FALSE(agent.leave.has_value()) << second;
    EXPECT_THAT(agent.notices, Contains(HasSubstr("wrong token")));
    agent.Wait(seconds(1));
  }
  ASSERT_EQ(ExitCode(agent), 1);
  EXPECT_THAT(agent.leave->reason, HasSubstr("wrong token"));
}

TEST(LifecycleWrongCoordinator, WithWorkersAnotherTokenIsFinal) {
  LifecycleFixture agent(RetryingConfig());
  agent.Run(1);
  agent.Disconnect(absl::UnauthenticatedError("wrong token"));
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
}

TEST(LifecycleWrongCoordinator, IsBelievedElsewhere) {
  LifecycleFixture agent;
  agent.Connect();
  agent.Tell(RefusedAsAnotherJobs("it belongs to job b"));
  ASSERT_EQ(ExitCode(agent), 1);
  EXPECT_EQ(agent.leave->reason, "it belongs to job b");
}

TEST(LifecycleWrongCoordinator, AnotherRefusalIsFinal) {
  LifecycleFixture agent(RetryingConfig());
  agent.Connect();
  agent.Tell(DirectiveOf(rendezvous::DirectiveKind::kRefused));
  EXPECT_TRUE(agent.leave.has_value());
}

TEST(LifecycleAbsence, ANodeThatKnowsTheEndWaitsAMinuteForItsCoordinator) {
  Lifecycle::Config config = LifecycleFixture::QuickConfig();
  config.policy.coordinator_timeout = std::chrono::hours(1);
  LifecycleFixture agent(config);
  agent.Connect();
  agent.Run(1);
  rendezvous::Directive stop = DirectiveOf(rendezvous::DirectiveKind::kStop);
  stop.stop = {.round = 1, .grace = seconds(10), .exit_code = 4};
  agent.Tell(stop);
  agent.AllDown();
  agent.Disconnect();
  agent.Wait(milliseconds(59'900));
  EXPECT_EQ(ExitCode(agent), std::nullopt);
  agent.Wait(milliseconds(200));
  EXPECT_EQ(ExitCode(agent), 4);
}

// A fixture whose agent has begun round 1 of a job with standbys at b:1 and
// c:1, and has lost its coordinator.
class LifecycleStandbyTest : public ::testing::Test {
 protected:
  LifecycleStandbyTest() {
    agent_.Step(LinkUp{.coordinator = "a:1"});
    rendezvous::Directive run = DirectiveOf(rendezvous::DirectiveKind::kRun);
    run.place.round = 1;
    run.electorate = {
        .epoch = 7, .world = {.epoch = 7, .round = 1}, .nodes = 3, .rank = 2};
    run.host_rank = 0;
    run.standbys = {"b:1", "c:1"};
    agent_.Tell(run);
    EXPECT_EQ(agent_.last_step().standbys, run.standbys);
    agent_.Up(0);
    agent_.Up(1);
    agent_.Disconnect();
    agent_.Step(LinkUp{.coordinator = "b:1"});
  }

  rendezvous::Directive StandBy(uint64_t epoch) {
    rendezvous::Directive directive =
        DirectiveOf(rendezvous::DirectiveKind::kStandBy);
    directive.epoch = epoch;
    return directive;
  }
  const rendezvous::Report& report() { return agent_.reports.back(); }

  LifecycleFixture agent_;
};

// An order to begin round 2 comes while workers of round 1 run. While they
// stop, the node promises a standby to obey no coordinator with an epoch below
// 100.
TEST_F(LifecycleStandbyTest,
       AnOrderThatWaitsForWorkersIsNotObeyedAfterAPromise) {
  agent_.Disconnect();
  agent_.Step(LinkUp{.coordinator = "a:1"});
  rendezvous::Directive run = DirectiveOf(rendezvous::DirectiveKind::kRun);
  run.epoch = 7;
  run.place.round = 2;
  agent_.Tell(run);
  ASSERT_EQ(agent_.phase(), rendezvous::NodePhase::kStopping);
  agent_.Disconnect();
  agent_.Step(LinkUp{.coordinator = "b:1"});
  agent_.Step(DirectiveCame{StandBy(100)});
  ASSERT_EQ(report().promised_epoch, 100u);
  const size_t begun = agent_.starts.size();
  agent_.AllDown();
  EXPECT_EQ(agent_.starts.size(), begun);
}

TEST_F(LifecycleStandbyTest, ReportsWhatAStandbyMustKnow) {
  EXPECT_EQ(report().promised_epoch, 7u);
  EXPECT_EQ(report().electorate.nodes, 3);
  EXPECT_EQ(report().electorate.rank, 2);
  EXPECT_EQ(report().host_rank, 0);
}

// A coordinator may use an earlier world as the electorate again, without
// knowing that this node belongs to that world.
TEST_F(LifecycleStandbyTest, ReportsTheWorldBeforeItsOwn) {
  EXPECT_EQ(report().previous_rank, -1);
  const int first = report().place->group_rank;
  agent_.TellStop(1);
  agent_.AllDown();
  rendezvous::Directive run = DirectiveOf(rendezvous::DirectiveKind::kRun);
  run.revision = 50;
  run.place.round = 2;
  run.place.group_rank = 1;
  agent_.Tell(run);
  agent_.Up(0);
  EXPECT_EQ(report().place->round, 2);
  EXPECT_EQ(report().previous_world, (rendezvous::WorldId{0, 1}));
  EXPECT_EQ(report().previous_rank, first);
}

TEST_F(LifecycleStandbyTest, PromisesAndObeysNoLowerEpoch) {
  agent_.Step(DirectiveCame{StandBy(0)});
  EXPECT_EQ(report().promised_epoch, 7u);
  agent_.Step(DirectiveCame{StandBy(9)});
  EXPECT_EQ(report().promised_epoch, 9u);
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
  // The node has promised to obey no epoch below 9, and connects again to the
  // old coordinator, whose epoch is 8. The old coordinator orders the node to
  // stop the round. This order must have no effect.
  agent_.Disconnect();
  agent_.Step(LinkUp{.coordinator = "a:1"});
  rendezvous::Directive stop = DirectiveOf(rendezvous::DirectiveKind::kStop);
  stop.epoch = 8;
  stop.stop.round = 1;
  agent_.Step(DirectiveCame{stop});
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
  ASSERT_TRUE(agent_.last_step().reconnect.has_value());
  EXPECT_EQ(agent_.last_step().reconnect->endpoint, "");
}

TEST_F(LifecycleStandbyTest, TheEndOfTheWaitSaysWhyNoNodeCouldTakeOver) {
  agent_.Step(DirectiveCame{StandBy(0)});
  agent_.Disconnect(absl::UnavailableError("closed"));
  agent_.Step(LinkUp{.coordinator = "c:1"});
  rendezvous::Directive alone = StandBy(0);
  alone.reason = "1 of the 3 nodes";
  agent_.Step(DirectiveCame{alone});
  agent_.Wait(seconds(30));
  agent_.Fails(0);
  agent_.Fails(1);
  agent_.Gone();
  ASSERT_EQ(ExitCode(agent_), 1);
  EXPECT_THAT(agent_.leave->reason,
              HasSubstr("closed; no node could take over: 1 of the 3 nodes"));
}

TEST_F(LifecycleStandbyTest, ReportsAtOnceThatItObeysAnElectedCoordinator) {
  agent_.Step(DirectiveCame{StandBy(0)});
  rendezvous::Directive wait = DirectiveOf(rendezvous::DirectiveKind::kHold);
  wait.epoch = 9;
  wait.electorate = report().electorate;
  const size_t before = agent_.reports.size();
  agent_.Step(DirectiveCame{wait});
  ASSERT_EQ(agent_.reports.size(), before + 1);
  EXPECT_EQ(report().promised_epoch, 9u);
}

TEST_F(LifecycleStandbyTest, GoesOnToTheNextStandbyAfterAWhile) {
  agent_.Step(DirectiveCame{StandBy(0)});
  agent_.Wait(milliseconds(4999));
  EXPECT_FALSE(agent_.last_step().reconnect.has_value());
  bool has_gone = false;
  for (int i = 0; i < 100 && !has_gone; ++i) {
    agent_.Wait(milliseconds(51));
    has_gone = agent_.last_step().reconnect.has_value();
  }
  EXPECT_TRUE(has_gone);
}

TEST_F(LifecycleStandbyTest, StaysLongerOnceItHasPromised) {
  agent_.Step(DirectiveCame{StandBy(9)});
  for (int i = 0; i < 90; ++i) {
    agent_.Wait(milliseconds(100));
    ASSERT_FALSE(agent_.last_step().reconnect.has_value());
  }
}

TEST_F(LifecycleStandbyTest, AStandbyDoesNotCountAsTheCoordinator) {
  for (int i = 0; i < 31; ++i) {
    agent_.Step(LinkUp{.coordinator = "b:1"});
    agent_.Step(DirectiveCame{StandBy(0)});
    agent_.Wait(seconds(1));
  }
  agent_.AllDown();
  EXPECT_EQ(ExitCode(agent_), 1);
}

TEST_F(LifecycleStandbyTest, SaysWhereTheJobIsCoordinated) {
  agent_.Step(DirectiveCame{StandBy(9)});
  rendezvous::Directive run = DirectiveOf(rendezvous::DirectiveKind::kRun);
  run.epoch = 9;
  run.revision = 1;
  run.place.round = 1;
  agent_.Step(DirectiveCame{run});
  EXPECT_THAT(agent_.notices, Contains("the job is coordinated at b:1 now"));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
  // The new coordinator's directive names no electorate. So the node must still
  // report the electorate that the lost coordinator named, which has three
  // nodes.
  agent_.Wait(seconds(1));
  EXPECT_EQ(report().electorate.nodes, 3);
}

TEST_F(LifecycleStandbyTest, GoesWhereItIsSent) {
  rendezvous::Directive moved = DirectiveOf(rendezvous::DirectiveKind::kMoved);
  moved.epoch = 0;
  moved.standbys = {"d:1"};
  agent_.Step(DirectiveCame{moved});
  ASSERT_TRUE(agent_.last_step().reconnect.has_value());
  EXPECT_EQ(agent_.last_step().reconnect->endpoint, "d:1");
}

TEST_F(LifecycleStandbyTest, APortOfAnotherJobIsPassedOver) {
  rendezvous::Directive refused =
      DirectiveOf(rendezvous::DirectiveKind::kRefused);
  refused.epoch = 0;
  refused.another_job = true;
  agent_.Step(DirectiveCame{refused});
  EXPECT_TRUE(agent_.last_step().reconnect.has_value());
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kRunning);
}

}  // namespace
}  // namespace muster::agent
