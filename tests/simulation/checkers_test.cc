// Tests that every checker reports each breach of its invariant. The checkers
// of hangs and preemptions are tested in ending_checkers_test.cc.

#include "tests/simulation/checkers/checkers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulation/checkers_fixture.h"
#include "tests/simulation/room_watch.h"

namespace muster::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(CheckersTest, ReportsASkippedRound) {
  Use(NewRoundChecker);
  checker_->OnStep(Begin(1));
  EXPECT_EQ(checker_->breach(), "");
  checker_->OnStep(Begin(3));
  EXPECT_THAT(checker_->breach(), StartsWith("round +0/+1: from 1"));
}

TEST_F(CheckersTest, ReportsARoundWithoutAWorld) {
  Use(NewRoundChecker);
  checker_->OnStep(Begin(1));
  step_.status.round = 2;
  checker_->OnStep(step_);
  EXPECT_THAT(checker_->breach(), HasSubstr("without a world"));
}

TEST_F(CheckersTest, ReportsARoundThatAMinorityHasCarriedOn) {
  Use(NewAdoptionChecker);
  checker_->OnCoordinatorStarted(2);
  rendezvous::Report report;
  report.sequence = 1;
  report.place = {.round = 3, .group_world_size = 2};
  checker_->OnReport(kZero, 1, report);
  step_.status.nodes = {Node(kZero, {})};
  step_.decisions = {{"adopt", 3, "", "round 3 goes on: 1 of its 2 nodes"}};
  checker_->OnStep(step_);
  EXPECT_THAT(checker_->breach(), HasSubstr("goes on with 1"));
}

TEST_F(CheckersTest, ReportsAnAdoptedJobThatIsYoungerThanItsNodesKnow) {
  Use(NewAdoptionChecker);
  checker_->OnCoordinatorStarted(2);
  rendezvous::Report report;
  report.sequence = 1;
  report.place = {.round = 3, .group_world_size = 1};
  report.job_age = seconds(60);
  checker_->OnReport(kZero, 1, report);
  step_.status.nodes = {Node(kZero, {})};
  step_.status.age = seconds(60);
  step_.decisions = {{"adopt", 3, "", "round 3 goes on: 1 of its 1 node"}};
  checker_->OnStep(step_);
  EXPECT_EQ(checker_->breach(), "");
  step_.status.age = seconds(59);
  checker_->OnStep(step_);
  EXPECT_THAT(checker_->breach(), HasSubstr("is 59 s old"));
}

TEST_F(CheckersTest, ReportsAnOlderCoordinatorsRoundThatIsCarriedOn) {
  for (const bool is_known : {false, true}) {
    Use(NewAdoptionChecker);
    rendezvous::Report report;
    report.sequence = 1;
    report.place = {.round = 3, .epoch = 1, .group_world_size = 1};
    checker_->OnReport(kZero, 1, report);
    report.place = {.round = 2, .epoch = 2, .group_world_size = 2};
    checker_->OnReport(kOne, 2, report);
    step_.status.nodes = {Node(kZero, {})};
    if (is_known) step_.status.nodes.push_back(Node(kOne, {}));
    step_.decisions = {{"adopt", 3, "", "round 3 goes on: 1 of its 1 node"}};
    checker_->OnStep(step_);
    EXPECT_EQ(checker_->breach().empty(), !is_known);
  }
}

TEST_F(CheckersTest, ReportsARoundThatIsGivenUpTooEarly) {
  Use(NewAdoptionChecker);
  checker_->OnCoordinatorStarted(2);
  step_.decisions = {{"adopt", 3, "", "round 3 is given up: only 1 of 2"}};
  checker_->OnStep(step_);
  EXPECT_THAT(checker_->breach(), HasSubstr("too early"));
}

TEST_F(CheckersTest, ReportsAnInstantWithoutAnActivity) {
  Use(NewTimeChecker);
  checker_->OnAgentStarted(kZero);
  Advance(seconds(2));
  agent::LifecycleStep step;
  step.report = ReportOf(kZero, 1);
  step.report->time.ledger[rendezvous::Activity::kWaiting] = seconds(2);
  checker_->OnAgentStepped(kZero, step, std::nullopt);
  EXPECT_EQ(checker_->breach(), "");
  Advance(seconds(1));
  checker_->OnAgentStepped(kZero, step, std::nullopt);
  EXPECT_THAT(checker_->breach(), HasSubstr("lived 3 s and tells 2 s"));
}

TEST_F(CheckersTest, ReportsAnInstantThatIsCountedTwice) {
  Use(NewTimeChecker);
  checker_->OnAgentStarted(kZero);
  Advance(seconds(2));
  agent::LifecycleStep step;
  step.report = ReportOf(kZero, 1);
  step.report->time.ledger[rendezvous::Activity::kWaiting] = seconds(2);
  checker_->OnAgentStepped(kZero, step, std::nullopt);
  step_.status.time.spent_s = {2};
  checker_->OnStep(step_);
  EXPECT_EQ(checker_->breach(), "");
  step_.status.time.spent_s = {2.5};
  checker_->OnStep(step_);
  EXPECT_THAT(checker_->breach(), HasSubstr("counts 2.5 s, its nodes 2 s"));
}

TEST_F(CheckersTest, ReportsARankWithTwoOwners) {
  Use(NewOwnerChecker);
  checker_->OnWorkersStarted(kZero, 1, Run(kZero, 1, 0).directive.place);
  checker_->OnWorkersStarted(kOne, 1, Run(kOne, 1, 1).directive.place);
  EXPECT_EQ(checker_->breach(), "");
  checker_->OnWorkersStarted(kOne, 1, Run(kOne, 1, 0).directive.place);
  EXPECT_THAT(checker_->breach(), HasSubstr("rank 0 of round 1"));
}

TEST_F(CheckersTest, ReportsARoundBeforeTheEndOfTheLast) {
  Use(NewOwnerChecker);
  checker_->OnWorkersStarted(kZero, 1, Run(kZero, 1, 0).directive.place);
  checker_->OnStep(Begin(2));
  EXPECT_THAT(checker_->breach(), HasSubstr("still has workers of round 1"));
}

TEST_F(CheckersTest, ReportsAMissingRank) {
  Use(NewWorldChecker);
  CoordinatorStepped step = Begin(1);
  checker_->OnStep(step);
  EXPECT_EQ(checker_->breach(), "");
  step.sent[1].directive.place.group_rank = 2;
  checker_->OnStep(step);
  EXPECT_THAT(checker_->breach(), HasSubstr("does not fit"));
}

TEST_F(CheckersTest, ReportsATooSmallWorld) {
  Use(NewWorldChecker);
  CoordinatorStepped step = Begin(1);
  step.sent.pop_back();
  checker_->OnStep(step);
  EXPECT_THAT(checker_->breach(), HasSubstr("a world of 1 nodes"));
}

TEST_F(CheckersTest, ReportsAMasterOtherThanRankZero) {
  Use(NewWorldChecker);
  CoordinatorStepped step = Begin(1);
  for (Sent& sent : step.sent) sent.directive.place.master_address = "10.0.0.2";
  checker_->OnStep(step);
  EXPECT_THAT(checker_->breach(), HasSubstr("master"));
}

TEST_F(CheckersTest, ReportsARoundWithTwoRunTags) {
  Use(NewWorldChecker);
  CoordinatorStepped step = Begin(1);
  step.sent[1].directive.place.run_tag = "another";
  checker_->OnStep(step);
  EXPECT_THAT(checker_->breach(), HasSubstr("tag"));
}

TEST_F(CheckersTest, ReportsANodeThatTheStoreDoesNotServe) {
  Use(NewWorldChecker);
  CoordinatorStepped step = Begin(1);
  step.sent[0].directive.place.store_clients.pop_back();
  checker_->OnStep(step);
  EXPECT_THAT(checker_->breach(),
              HasSubstr("the store does not serve 10.1.0.2 of n1"));
}

TEST_F(CheckersTest, ReportsStoreClientsToldToAnotherNodeThanTheStores) {
  Use(NewWorldChecker);
  CoordinatorStepped step = Begin(1);
  step.sent[1].directive.place.store_clients = {"10.0.0.1"};
  checker_->OnStep(step);
  EXPECT_THAT(checker_->breach(), HasSubstr("serves no store"));
}

TEST_F(CheckersTest, ReportsAnOldIncarnation) {
  Use(NewIncarnationChecker);
  for (uint64_t incarnation : {7, 5}) {
    step_.status.nodes = {Node({.slot = 0, .incarnation = incarnation}, {})};
    checker_->OnStep(step_);
    EXPECT_EQ(checker_->breach(), "");
  }
  step_.status.nodes = {Node({.slot = 0, .incarnation = 7}, {})};
  checker_->OnStep(step_);
  EXPECT_THAT(checker_->breach(), HasSubstr("again of incarnation 7"));
}

TEST_F(CheckersTest, ACoordinatorKnowsTheIncarnationsOfItsRecord) {
  for (const bool is_recorded : {false, true}) {
    Use(NewIncarnationChecker);
    step_.is_recorded = is_recorded;
    step_.status.nodes = {Node({.slot = 0, .incarnation = 7}, {})};
    checker_->OnStep(step_);
    checker_->OnCoordinatorContinued();
    for (uint64_t incarnation : {5, 7}) {
      step_.status.nodes = {Node({.slot = 0, .incarnation = incarnation}, {})};
      checker_->OnStep(step_);
    }
    EXPECT_EQ(checker_->breach().empty(), !is_recorded);
  }
}

TEST_F(CheckersTest, ReportsSilenceBeyondTheLease) {
  Use(NewDetectionChecker);
  step_.status.nodes = {Node(kZero, 0)};
  checker_->OnReport(kZero, 1, ReportOf(kZero, 1));
  Advance(milliseconds(4999));
  // The first report arrives again. This does not prove that the agent is
  // alive, so the silence still counts from the first arrival.
  checker_->OnReport(kZero, 1, ReportOf(kZero, 1));
  checker_->OnStep(step_);
  EXPECT_EQ(checker_->breach(), "");
  Advance(milliseconds(1));
  checker_->OnStep(step_);
  EXPECT_THAT(checker_->breach(), HasSubstr("s of silence"));
}

TEST_F(CheckersTest, ReportsABrokenStreamBeyondItsGrace) {
  Use(NewDetectionChecker);
  step_.status.nodes = {Node(kZero, 0)};
  checker_->OnReport(kZero, 1, ReportOf(kZero, 1));
  checker_->OnStep(step_);
  checker_->OnStreamClosed(kZero, 1);
  Advance(milliseconds(499));
  checker_->OnStep(step_);
  EXPECT_EQ(checker_->breach(), "");
  Advance(milliseconds(1));
  checker_->OnStep(step_);
  EXPECT_THAT(checker_->breach(), HasSubstr("after its stream broke"));
}

TEST_F(CheckersTest, ReportsTooManyRestarts) {
  Use(NewBudgetChecker);
  checker_->OnStep(Begin(1));
  for (int round = 1; round <= 2; ++round) {
    EXPECT_EQ(checker_->breach(), "");
    checker_->OnStep(Break(round, "rank 0 on h0: exit code 3"));
    CoordinatorStepped next = Begin(round + 1);
    next.status.restarts_used = round;
    for (Sent& sent : next.sent) sent.directive.place.restart_count = round;
    step_.status.restarts_used = round;
    checker_->OnStep(next);
  }
  EXPECT_THAT(checker_->breach(), HasSubstr("2 restarts of 1"));
}

TEST_F(CheckersTest, ReportsARestartUsedByMembership) {
  Use(NewBudgetChecker);
  checker_->OnStep(Begin(1));
  step_.status.restarts_used = 1;
  checker_->OnStep(Break(1, "h1 (group rank 1) was lost: its agent"));
  EXPECT_THAT(checker_->breach(), HasSubstr("1 restarts counted, 0 seen"));
}

TEST_F(CheckersTest, TheRestartOfACancelledJobMayBeGivenBack) {
  Use(NewBudgetChecker);
  // In its first step, a new coordinator finds that a worker of the running
  // round has failed, which uses a restart. In the same step, it cancels the
  // job.
  CoordinatorStepped adopts = Break(1, "rank 0 on h0: exit code 3");
  adopts.decisions.push_back({.kind = "cancel"});
  adopts.status.restarts_used = 1;
  Sent stop;
  stop.directive.kind = rendezvous::DirectiveKind::kStop;
  stop.directive.stop.exit_code = 130;
  adopts.sent.push_back(stop);
  checker_->OnStep(adopts);
  // Later, the coordinator decides that the loss of a node has caused the
  // failure of the worker. So the job gets back the restart that it has used.
  CoordinatorStepped blames = step_;
  blames.status.round = 1;
  blames.decisions = {{.kind = "blame"}};
  checker_->OnStep(blames);
  EXPECT_EQ(checker_->breach(), "");
}

TEST_F(CheckersTest, ReportsAPassedOrMissingDeadline) {
  for (std::optional<Instant> deadline :
       {std::optional<Instant>(now_), std::optional<Instant>()}) {
    Use(NewDeadlineChecker);
    step_.next_deadline = deadline;
    checker_->OnStep(step_);
    EXPECT_THAT(checker_->breach(), StartsWith("deadlines: the job waits"));
    Use(NewDeadlineChecker);
    checker_->OnAgentStepped(kZero, agent::LifecycleStep(), deadline);
    EXPECT_THAT(checker_->breach(), HasSubstr("waits"));
  }
}

TEST_F(CheckersTest, ReportsASurvivorWithANewRank) {
  Use(NewStickyChecker);
  checker_->OnStep(Begin(1));
  CoordinatorStepped step = Begin(2);
  step.status.nodes = {Node(kOne, 0), Node(kZero, 1)};
  checker_->OnStep(step);
  EXPECT_THAT(checker_->breach(), HasSubstr("moved from"));
}

TEST_F(CheckersTest, AcceptsAMoveForAnExplicitRank) {
  Use(NewStickyChecker);
  checker_->OnStep(Begin(1));
  CoordinatorStepped step = Begin(2);
  step.status.nodes = {Node(kOne, 0), Node(kZero, 1)};
  step.status.nodes[0].node.node_rank = 0;
  checker_->OnStep(step);
  EXPECT_EQ(checker_->breach(), "");
}

TEST_F(CheckersTest, ReportsSuccessWithoutAllMembers) {
  Use(NewVerdictChecker);
  checker_->OnStep(Begin(1));
  rendezvous::Report report = ReportOf(kZero, 1);
  report.phase = rendezvous::NodePhase::kSucceeded;
  report.round = 1;
  checker_->OnReport(kZero, 1, report);
  step_.status.round = 1;
  step_.status.verdict = rendezvous::Verdict();
  checker_->OnStep(step_);
  EXPECT_THAT(checker_->breach(), HasSubstr("n1 has not succeeded"));
}

TEST_F(CheckersTest, AcceptsAVerdictForAMemberOfTheOldRound) {
  Use(NewVerdictChecker);
  checker_->OnStep(Begin(1));
  // In one step, the coordinator sends n0 a directive of round 1, for example
  // to forward a signal, and then starts round 2 with n1 alone. So n0 is no
  // member of round 2, and the job may succeed without it.
  CoordinatorStepped step = Begin(2);
  step.sent = {Run(kZero, 1, 0), Run(kOne, 2, 0)};
  checker_->OnStep(step);
  step_.status.round = 2;
  step_.status.verdict = rendezvous::Verdict();
  rendezvous::Report report = ReportOf(kOne, 1);
  report.phase = rendezvous::NodePhase::kSucceeded;
  report.round = 2;
  checker_->OnReport(kOne, 2, report);
  checker_->OnStep(step_);
  EXPECT_EQ(checker_->breach(), "");
}

TEST_F(CheckersTest, ThePlaceOfASucceededMemberIsNotFree) {
  for (const bool succeeded : {false, true}) {
    RoomWatch room(plan_);
    room.OnCoordinatorStarted(1);
    CoordinatorStepped step = Begin(1);
    step.status.spec = plan_.spec;
    room.OnStep(step);
    EXPECT_FALSE(room.MustLetIn(step.status));
    rendezvous::Report report = ReportOf(kZero, 1);
    report.phase = succeeded ? rendezvous::NodePhase::kSucceeded
                             : rendezvous::NodePhase::kRunning;
    report.round = 1;
    room.OnReport(kZero, 1, report);
    EXPECT_FALSE(room.MustLetIn(step.status));
    step.status.nodes = {Node(kOne, 1)};
    EXPECT_EQ(room.MustLetIn(step.status), !succeeded);
    // The member that has succeeded had its place in round 1 only. So round 2
    // has a free place, and the waiting node must be let in.
    step.status.round = 2;
    EXPECT_TRUE(room.MustLetIn(step.status));
    step.status.spec.scale_up = rendezvous::ScaleUp::kNever;
    EXPECT_FALSE(room.MustLetIn(step.status));
  }
}

TEST_F(CheckersTest, SuccessOutsideOfTheRoundLeavesRoom) {
  RoomWatch room(plan_);
  room.OnCoordinatorStarted(1);
  CoordinatorStepped step = Begin(1);
  step.status.spec = plan_.spec;
  step.status.nodes = {Node(kOne, 1)};
  rendezvous::Report report = ReportOf(kZero, 1);
  report.phase = rendezvous::NodePhase::kSucceeded;
  report.round = 1;
  // RoomWatch must ignore this success: n0 is not in round 1 yet.
  room.OnReport(kZero, 1, report);
  room.OnStep(step);
  EXPECT_TRUE(room.MustLetIn(step.status));
  room.OnReport(kZero, 1, report);
  EXPECT_FALSE(room.MustLetIn(step.status));
  // The new coordinator has no report that n0 has succeeded. So this
  // coordinator considers the place of n0 in round 1 free, and must let the
  // waiting node n1 in.
  room.OnCoordinatorStarted(2);
  EXPECT_TRUE(room.MustLetIn(step.status));
}

// Returns a step that tells n0 the end of the job. `took_part`: whether n0 was
// a member of a round, not only a spare.
CoordinatorStepped EndTold(bool took_part) {
  Sent sent{.to = kZero};
  sent.directive.kind = rendezvous::DirectiveKind::kFinished;
  sent.directive.took_part = took_part;
  CoordinatorStepped step;
  step.sent = {sent};
  return step;
}

TEST_F(CheckersTest, ReportsSuccessOfANodeThatNeverRan) {
  agent::LifecycleStep step;
  step.leave = agent::Leave{
      .exit_code = 0, .never_ran = true, .verdict = rendezvous::Verdict()};
  Use(NewVerdictChecker);
  checker_->OnAgentStepped(kZero, step, std::nullopt);
  EXPECT_THAT(checker_->breach(), HasSubstr("reports success"));
  step.leave->never_ran = false;
  Use(NewVerdictChecker);
  checker_->OnAgentStepped(kZero, step, std::nullopt);
  EXPECT_THAT(checker_->breach(), HasSubstr("does not say so"));
  Use(NewVerdictChecker);
  checker_->OnWorkersStarted(kZero, 1, Run(kZero, 1, 0).directive.place);
  checker_->OnAgentStepped(kZero, step, std::nullopt);
  EXPECT_EQ(checker_->breach(), "");
  // Another agent of the same node leaves with success. It has run no workers,
  // but an earlier agent of the node has, so this is no breach.
  checker_->OnAgentStepped({.slot = kZero.slot, .incarnation = 99}, step,
                           std::nullopt);
  EXPECT_EQ(checker_->breach(), "");
  step.leave = agent::Leave{
      .exit_code = 69, .never_ran = true, .verdict = rendezvous::Verdict()};
  Use(NewVerdictChecker);
  checker_->OnAgentStepped(kOne, step, std::nullopt);
  EXPECT_EQ(checker_->breach(), "");
  checker_->OnWorkersStarted(kOne, 1, Run(kOne, 1, 0).directive.place);
  checker_->OnAgentStepped(kOne, step, std::nullopt);
  EXPECT_THAT(checker_->breach(), HasSubstr("says that it never ran"));
}

TEST_F(CheckersTest, ReportsAWrongPartInTheJob) {
  Use(NewVerdictChecker);
  checker_->OnStep(EndTold(/*took_part=*/true));
  EXPECT_THAT(checker_->breach(), HasSubstr("has run no workers"));
  Use(NewVerdictChecker);
  CoordinatorStepped recalled = EndTold(/*took_part=*/true);
  recalled.recalled_round = 1;
  checker_->OnStep(recalled);
  EXPECT_EQ(checker_->breach(), "");
  for (const bool took_part : {false, true}) {
    Use(NewVerdictChecker);
    CoordinatorStepped began;
    began.sent = {Run(kZero, 1, 0)};
    checker_->OnStep(began);
    checker_->OnWorkersStarted(kZero, 1, began.sent[0].directive.place);
    // Send the end of the job to a new agent of n0, with another incarnation.
    // This agent has run no workers, so only took_part tells it that n0 has
    // taken part in the job.
    CoordinatorStepped ended = EndTold(took_part);
    ended.sent[0].to.incarnation = kZero.incarnation + 1;
    ended.status.nodes = {Node(ended.sent[0].to, 0)};
    ended.status.round = 1;
    checker_->OnStep(ended);
    EXPECT_EQ(checker_->breach(),
              took_part ? "" : "verdict: n0 had a place, and took no part");
  }
}

TEST_F(CheckersTest, ReportsTwoVerdicts) {
  Use(NewVerdictChecker);
  Sent sent{.to = kZero};
  sent.directive.kind = rendezvous::DirectiveKind::kFinished;
  sent.directive.verdict.reason = "this";
  step_.sent = {sent};
  checker_->OnStep(step_);
  EXPECT_EQ(checker_->breach(), "");
  step_.sent[0].directive.verdict.reason = "that";
  checker_->OnStep(step_);
  EXPECT_THAT(checker_->breach(), HasSubstr("two verdicts"));
}

TEST_F(CheckersTest, ReportsARoundWithAnUnhealthyNode) {
  for (const rendezvous::Health health :
       {rendezvous::Health::kUnhealthy, rendezvous::Health::kUnchecked}) {
    Use(NewHealthChecker);
    rendezvous::Report report = ReportOf(kOne, 1);
    checker_->OnReport(kZero, 1, ReportOf(kZero, 1));
    checker_->OnReport(kOne, 2, report);
    checker_->OnStep(Begin(1));
    EXPECT_EQ(checker_->breach(), "");
    report.sequence = 2;
    report.health = health;
    checker_->OnReport(kOne, 2, report);
    // The newest report of n1 no longer says that n1 is healthy. This is
    // allowed while round 1 continues, but not when round 2 begins.
    CoordinatorStepped goes_on = Begin(1);
    goes_on.decisions.clear();
    checker_->OnStep(goes_on);
    EXPECT_EQ(checker_->breach(), "");
    checker_->OnStep(Begin(2));
    EXPECT_THAT(checker_->breach(), HasSubstr("n1"));
  }
}

TEST_F(CheckersTest, ReportsARoundWithoutACheckAfterAGpuError) {
  for (const bool is_checked : {true, false}) {
    Use(NewSuspicionChecker);
    checker_->OnStep(Begin(1));
    CoordinatorStepped error = Begin(1);
    error.decisions = {{.kind = "fault", .round = 1}};
    checker_->OnStep(error);
    CoordinatorStepped next = Begin(2);
    if (is_checked) {
      next.decisions.insert(next.decisions.begin(), {.kind = "check"});
    }
    checker_->OnStep(next);
    EXPECT_EQ(checker_->breach().empty(), is_checked);
  }
}

TEST_F(CheckersTest, ReportsABreakWithoutACause) {
  for (const char* why :
       {"cancelled: SIGINT at h0", "preempted: SIGUSR1 at h0",
        "rank 0 on h0: exit code 3", "1 node waited to be let in",
        "h1 (group rank 1) goes: SIGTERM",
        "h1 (group rank 1) was lost: its agent has been silent for 5 s",
        "h1 (group rank 1) stopped its workers by itself"}) {
    Use(NewAttributionChecker);
    checker_->OnStep(Begin(1));
    EXPECT_EQ(checker_->breach(), "");
    checker_->OnStep(Break(1, why));
    EXPECT_THAT(checker_->breach(), StartsWith("attribution: ")) << why;
  }
}

TEST_F(CheckersTest, ReportsABreakForAnEarlierRoundsFailure) {
  Use(NewAttributionChecker);
  rendezvous::Failure failure;
  failure.rank = 0;
  checker_->OnWorkerFailed(kZero, 1, 1, failure);
  checker_->OnStep(Begin(2));
  checker_->OnStep(Break(2, "rank 0 on h0: exit code 3"));
  EXPECT_THAT(checker_->breach(), HasSubstr("no such failure in this round"));
}

TEST_F(CheckersTest, AcceptsABreakForARealFault) {
  Use(NewAttributionChecker);
  checker_->OnStep(Begin(1));
  checker_->OnTrouble(1);
  checker_->OnStep(Break(1, "h1 (group rank 1) was lost: its agent"));
  rendezvous::Failure failure;
  failure.rank = 0;
  checker_->OnStep(Begin(2));
  checker_->OnWorkerFailed(kZero, 1, 2, failure);
  checker_->OnStep(Break(2, "rank 0 on h0: exit code 3"));
  EXPECT_EQ(checker_->breach(), "");
}

// Returns `step` with `nodes` as the nodes of the job. The node with the id
// `quarantined` is in quarantine.
CoordinatorStepped BeginWith(CoordinatorStepped step,
                             std::vector<rendezvous::NodeStatus> nodes,
                             const std::string& quarantined) {
  for (rendezvous::NodeStatus& node : nodes) {
    if (node.node.node_id == quarantined) {
      node.judgement.state = rendezvous::HostState::kQuarantined;
    }
  }
  step.status.nodes = std::move(nodes);
  return step;
}

constexpr AgentName kTwo = {.slot = 2, .incarnation = 3'000'001};

TEST_F(CheckersTest, ReportsAQuarantinedMemberThatTheMinimumDoesNotNeed) {
  plan_.spec.min_nodes = 1;
  Use(NewQuarantineChecker);
  checker_->OnStep(BeginWith(Begin(1), {Node(kOne, 0)}, "n1"));
  EXPECT_EQ(checker_->breach(), "");
  checker_->OnStep(BeginWith(Begin(2), {Node(kZero, 0), Node(kOne, 1)}, ""));
  EXPECT_EQ(checker_->breach(), "");
  checker_->OnStep(BeginWith(Begin(3), {Node(kZero, 0), Node(kOne, 1)}, "n1"));
  EXPECT_THAT(checker_->breach(),
              HasSubstr("round 3 begins with n1, which is quarantined, and "
                        "more than the minimum of 1 nodes"));
}

// A new round has a quarantined member, and node n2 waits as a spare. This is a
// breach only if n2 can take the member's place and has told the coordinator
// so, in reply to a directive.
TEST_F(CheckersTest, ReportsAQuarantinedMemberInThePlaceOfAReadySpare) {
  const auto sent = [](AgentName agent, uint64_t revision) {
    Sent one{.to = agent};
    one.directive.kind = rendezvous::DirectiveKind::kWait;
    one.directive.epoch = 1;
    one.directive.revision = revision;
    return one;
  };
  const auto report = [](AgentName agent, uint64_t revision) {
    rendezvous::Report told = ReportOf(agent, 1);
    told.seen_epoch = 1;
    told.seen_revision = revision;
    return told;
  };
  enum class Spare {
    kReady,
    kNotAsked,
    kHasNotAnswered,
    kLeft,
    kNewCoordinator,
    kUnhealthy,
    kDraining,
    kDisconnected,
    kBusy
  };
  for (const Spare spare :
       {Spare::kReady, Spare::kNotAsked, Spare::kHasNotAnswered, Spare::kLeft,
        Spare::kNewCoordinator, Spare::kUnhealthy, Spare::kDraining,
        Spare::kDisconnected, Spare::kBusy}) {
    Use(NewQuarantineChecker);
    if (spare != Spare::kNotAsked) {
      CoordinatorStepped asked = step_;
      asked.sent = {sent(kTwo, 5)};
      checker_->OnStep(asked);
    }
    const uint64_t answer = spare == Spare::kHasNotAnswered ? 4 : 5;
    checker_->OnReport(kTwo, 3, report(kTwo, answer));
    if (spare == Spare::kLeft) checker_->OnStreamClosed(kTwo, 3);
    if (spare == Spare::kNewCoordinator) checker_->OnCoordinatorCrashed();
    rendezvous::NodeStatus node = Node(kTwo, {});
    if (spare == Spare::kUnhealthy) {
      node.health = rendezvous::Health::kUnhealthy;
    }
    node.draining = spare == Spare::kDraining;
    node.connected = spare != Spare::kDisconnected;
    if (spare == Spare::kBusy) node.phase = rendezvous::NodePhase::kStopping;
    checker_->OnStep(
        BeginWith(Begin(1), {Node(kZero, 0), Node(kOne, 1), node}, "n1"));
    if (spare == Spare::kReady) {
      EXPECT_THAT(checker_->breach(),
                  HasSubstr("round 1 begins with n1, which is quarantined, and "
                            "without n2"));
    } else {
      EXPECT_EQ(checker_->breach(), "") << static_cast<int>(spare);
    }
  }
}

TEST_F(CheckersTest, AllowsAQuarantinedMemberWhereElectorsAreNeeded) {
  plan_.spec.min_nodes = 1;
  plan_.takeover = true;
  Use(NewQuarantineChecker);
  checker_->OnStep(BeginWith(Begin(1), {Node(kZero, 0), Node(kOne, 1)}, "n1"));
  EXPECT_EQ(checker_->breach(), "");
}

}  // namespace
}  // namespace muster::simulation
