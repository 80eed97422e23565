// Tests that the checkers of takeovers, by nodes or by daemons with etcd,
// report each breach of their invariants.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/simulation/checkers/checkers.h"
#include "tests/simulation/checkers_fixture.h"

namespace muster::simulation {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr AgentName kTwo = {.slot = 2, .incarnation = 3'000'001};
constexpr AgentName kThree = {.slot = 3, .incarnation = 4'000'001};

class TakeoverCheckersTest : public CheckersTest {
 protected:
  TakeoverCheckersTest() { plan_.takeover = true; }

  // Reports to the checker that `agent` starts its workers in a world of two
  // nodes.
  void Starts(AgentName agent, uint64_t epoch, int round, int rank,
              int restarts = 0) {
    rendezvous::Place place = Run(agent, round, rank).directive.place;
    place.epoch = epoch;
    place.restart_count = restarts;
    checker_->OnWorkersStarted(agent, epoch, place);
  }
  void Begins(uint64_t epoch, int round, AgentName zero = kZero,
              AgentName one = kOne) {
    Starts(zero, epoch, round, 0);
    Starts(one, epoch, round, 1);
  }
  void Gone(AgentName agent, uint64_t epoch, int round) {
    checker_->OnWorkersGone(agent, epoch, round);
  }
  void Fails(AgentName agent, uint64_t epoch, int round) {
    checker_->OnWorkerFailed(agent, epoch, round, rendezvous::Failure());
  }
  // Reports to the checker that `agent` has promised epoch `promised` and obeys
  // epoch `seen`.
  void Reports(AgentName agent, uint64_t promised, uint64_t seen) {
    agent::LifecycleStep step;
    step.report = ReportOf(agent, 1);
    step.report->promised_epoch = promised;
    step.report->seen_epoch = seen;
    checker_->OnAgentStepped(agent, step, now_);
  }
  // Tells the checker that `agent` gets a directive from the coordinator of
  // `epoch` to run `round`, and that the agent then starts its workers.
  void Obeys(AgentName agent, uint64_t epoch, int round) {
    rendezvous::Directive directive = Run(agent, round, 0).directive;
    directive.epoch = directive.place.epoch = epoch;
    checker_->OnDirective(agent, directive);
    agent::LifecycleStep step;
    step.actions.emplace_back(agent::StartWorkers{directive.place});
    checker_->OnAgentStepped(agent, step, now_);
  }
  CoordinatorStepped Finish(rendezvous::Outcome outcome, int exit_code) {
    CoordinatorStepped step = step_;
    step.status.phase = rendezvous::JobPhase::kFinished;
    step.status.verdict.emplace();
    step.status.verdict->outcome = outcome;
    step.status.verdict->exit_code = exit_code;
    step.decisions = {{.kind = "finish"}};
    return step;
  }
  void Tick(Duration after) {
    Advance(after);
    checker_->OnTick();
  }
};

TEST_F(TakeoverCheckersTest, ReportsTwoCoordinatorsOfOneEpoch) {
  Use(NewPromiseChecker);
  checker_->OnCoordinatorStarted(2);
  EXPECT_EQ(checker_->breach(), "");
  checker_->OnCoordinatorStarted(2);
  EXPECT_THAT(checker_->breach(), HasSubstr("have the epoch 2"));
}

TEST_F(TakeoverCheckersTest, ReportsAnAgentThatObeysALowerEpoch) {
  Use(NewPromiseChecker);
  Reports(kZero, 4, 4);
  Obeys(kZero, 4, 1);
  EXPECT_EQ(checker_->breach(), "");
  Reports(kZero, 5, 4);
  Obeys(kZero, 4, 2);
  EXPECT_THAT(checker_->breach(), HasSubstr("starts round 2 of epoch 4"));
}

TEST_F(TakeoverCheckersTest, ReportsAVerdictOfALowerEpoch) {
  Use(NewPromiseChecker);
  Reports(kZero, 5, 0);
  rendezvous::Directive finished;
  finished.epoch = 4;
  finished.kind = rendezvous::DirectiveKind::kFinished;
  checker_->OnDirective(kZero, finished);
  agent::LifecycleStep step;
  step.leave.emplace();
  step.leave->verdict.emplace();
  checker_->OnAgentStepped(kZero, step, now_);
  EXPECT_THAT(checker_->breach(), HasSubstr("no coordinator that it obeys"));
}

TEST_F(TakeoverCheckersTest, ReportsABrokenPromise) {
  Use(NewPromiseChecker);
  Reports(kZero, 5, 4);
  Reports(kZero, 4, 4);
  EXPECT_THAT(checker_->breach(), HasSubstr("takes its promise of 5 back"));
}

TEST_F(TakeoverCheckersTest, ReportsAnOldCoordinatorThatIsSeenAgain) {
  Use(NewPromiseChecker);
  Reports(kZero, 5, 5);
  Reports(kZero, 5, 0);  // epoch 0: n0 asks for the newest directive
  EXPECT_EQ(checker_->breach(), "");
  Reports(kZero, 5, 4);
  EXPECT_THAT(checker_->breach(), HasSubstr("obeys epoch 4 after 5"));
}

TEST_F(TakeoverCheckersTest, ReportsTwoWorldsAtOnce) {
  Use(NewSplitBrainChecker);
  Begins(1, 1);
  Starts(kTwo, 2, 2, 0);
  EXPECT_EQ(checker_->breach(), "");
  Starts(kThree, 2, 2, 1);
  EXPECT_THAT(checker_->breach(), HasSubstr("run on all of their nodes"));
}

TEST_F(TakeoverCheckersTest, AnElectorMayForgetItsVoteWhenItRestarts) {
  constexpr AgentName kTwoAgain = {.slot = 2, .incarnation = 3'000'002};
  plan_.spec.max_nodes = 3;
  for (const int min_nodes : {1, 2}) {
    for (const AgentName one : {kTwoAgain, kThree}) {
      plan_.spec.min_nodes = min_nodes;
      Use(NewSplitBrainChecker);
      Begins(5, 2, kOne, kTwo);
      Gone(kTwo, 5, 2);
      Begins(1, 2, kZero, one);
      const bool is_allowed =
          min_nodes == 2 && one.incarnation == kTwoAgain.incarnation;
      EXPECT_EQ(checker_->breach() == "", is_allowed) << min_nodes << one.slot;
    }
  }
}

TEST_F(TakeoverCheckersTest, AForgottenVoteAllowsNoTwoWorldsAtOnce) {
  constexpr AgentName kTwoAgain = {.slot = 2, .incarnation = 3'000'002};
  plan_.spec.min_nodes = 2;
  plan_.spec.max_nodes = 3;
  Use(NewSplitBrainChecker);
  Begins(5, 2, kOne, kTwo);
  Begins(5, 3, kOne, kThree);
  Begins(1, 2, kZero, kTwoAgain);
  EXPECT_THAT(checker_->breach(), HasSubstr("run on all of their nodes"));
}

TEST_F(TakeoverCheckersTest, AWorldThatANodeHasLeftIsNotASecondOne) {
  Use(NewSplitBrainChecker);
  Begins(1, 1);
  Gone(kZero, 1, 1);
  Begins(2, 2, kTwo, kThree);
  EXPECT_EQ(checker_->breach(), "");
}

TEST_F(TakeoverCheckersTest, ReportsAWorldOfAnEarlierCoordinator) {
  Use(NewSplitBrainChecker);
  Begins(2, 2);
  Gone(kZero, 2, 2);
  Gone(kOne, 2, 2);
  Begins(1, 3);
  EXPECT_THAT(checker_->breach(),
              HasSubstr("round 3 of epoch 1 begins on all of its nodes after"));
}

TEST_F(TakeoverCheckersTest, TheKnowledgeOfAWorldDiesWithItsMajority) {
  Use(NewSplitBrainChecker);
  Begins(2, 2);
  checker_->OnAgentEnded(kZero);
  Begins(1, 3, kTwo, kThree);
  EXPECT_EQ(checker_->breach(), "");
}

TEST_F(TakeoverCheckersTest, ReportsAForgottenRestart) {
  Use(NewSpendingChecker);
  Fails(kZero, 1, 1);
  Starts(kZero, 1, 2, 0, 1);
  Starts(kOne, 1, 2, 1, 1);
  EXPECT_EQ(checker_->breach(), "");
  Starts(kZero, 2, 3, 0, 0);
  EXPECT_THAT(checker_->breach(), HasSubstr("restart 0 in round 3 after 1"));
}

TEST_F(TakeoverCheckersTest, RestartsMayBeForgottenWithTheAgentsThatKnowThem) {
  Use(NewSpendingChecker);
  Fails(kZero, 1, 1);
  Starts(kZero, 1, 2, 0, 1);
  checker_->OnAgentEnded(kZero);
  // Now both nodes of round 2 have started their workers, but the agent of n0
  // has ended. Only n1 still knows that a restart was used, and n1 is no
  // majority of the two nodes. So it is no breach if round 3 forgets the
  // restart.
  Starts(kOne, 1, 2, 1, 1);
  Starts(kTwo, 2, 3, 0, 0);
  EXPECT_EQ(checker_->breach(), "");
}

TEST_F(TakeoverCheckersTest, WithAutoEnoughOtherNodesMayForgetRestarts) {
  plan_.spec.takeover = rendezvous::Takeover::kAuto;
  plan_.spec.max_nodes = 3;
  for (const int max_nodes : {3, 4}) {
    plan_.spec.max_nodes = max_nodes;
    plan_.spec.min_nodes = max_nodes == 3 ? 2 : 4;
    Use(NewSpendingChecker);
    Fails(kZero, 1, 1);
    Starts(kZero, 1, 2, 0, 1);
    Starts(kOne, 1, 2, 1, 1);
    if (max_nodes == 3) checker_->OnAgentEnded(kOne);
    Starts(kTwo, 2, 3, 0, 0);
    EXPECT_EQ(checker_->breach().empty(), max_nodes == 3);
  }
}

TEST_F(TakeoverCheckersTest, ReportsARestartThatATakeoverSpends) {
  Use(NewSpendingChecker);
  Begins(1, 1);
  Starts(kZero, 2, 2, 0, 1);
  EXPECT_THAT(checker_->breach(), HasSubstr("1 restarts after 0 rounds"));
}

TEST_F(TakeoverCheckersTest, ReportsMoreRestartsThanTheBudget) {
  Use(NewSpendingChecker);
  Fails(kZero, 1, 1);
  Fails(kZero, 1, 2);
  Starts(kZero, 1, 3, 0, 2);
  EXPECT_THAT(checker_->breach(), HasSubstr("restart 2 of 1"));
}

TEST_F(TakeoverCheckersTest, ReportsASecondVerdict) {
  Use(NewOneVerdictChecker);
  checker_->OnStep(Finish(rendezvous::Outcome::kTimedOut, 1));
  checker_->OnStep(Finish(rendezvous::Outcome::kCancelled, 130));
  checker_->OnStep(Finish(rendezvous::Outcome::kSucceeded, 0));
  EXPECT_EQ(checker_->breach(), "");
  checker_->OnStep(Finish(rendezvous::Outcome::kFailed, 3));
  EXPECT_THAT(checker_->breach(),
              HasSubstr("succeeded (0, ) and failed (3, )"));
}

// Node 0 reports that round 3 has ended. If `exit_code` is set, the job ended
// with it. Node 1 reports the round of its place (`round_of_other`) and the
// round of its electorate (`electorate`; 0: none). The job is over (`is_over`)
// if it ended with round 3 and node 1 reports no later round. In this case, the
// checker must report a breach when a coordinator begins round 4.
TEST_F(TakeoverCheckersTest, ReportsAJobThatIsOverAndBeginsAgain) {
  struct Case {
    std::optional<int> exit_code;
    int round_of_other = 3;
    int electorate = 0;
    bool is_over = false;
  };
  for (const Case& one :
       {Case{}, Case{.exit_code = 1, .is_over = true},
        Case{.exit_code = 1, .electorate = 3, .is_over = true},
        Case{.exit_code = 1, .round_of_other = 4},
        Case{.exit_code = 1, .electorate = 4}}) {
    Use(NewAdoptionChecker);
    checker_->OnCoordinatorStarted(2);
    rendezvous::Report report;
    report.sequence = 1;
    report.place = {.round = one.round_of_other, .group_world_size = 5};
    report.electorate.world.round = one.electorate;
    checker_->OnReport(kOne, 2, report);
    report.place->round = 3;
    report.round_end =
        rendezvous::RoundEnd{.exit_code = one.exit_code, .epoch = 1};
    checker_->OnReport(kZero, 1, report);
    Advance(plan_.spec.lease());
    step_.status.nodes = {Node(kZero, {})};
    step_.decisions = {{"adopt", 3, "", "round 3 is given up: only 2 of 5"}};
    checker_->OnStep(step_);
    EXPECT_EQ(checker_->breach(), "");
    step_.decisions = {{"assign", 4, "", ""}};
    checker_->OnStep(step_);
    EXPECT_EQ(checker_->breach().empty(), !one.is_over);
  }
}

// Node 0 reports that the job was cancelled in round 3. If node 1 reports no
// later round, the checker must report a breach when a coordinator begins round
// 4. If node 1 reports round 4 (`has_gone_on`), the checker must report none.
TEST_F(TakeoverCheckersTest, ReportsACancelledJobThatGoesOn) {
  for (const bool has_gone_on : {false, true}) {
    Use(NewAdoptionChecker);
    rendezvous::Report report;
    report.sequence = 1;
    report.place = {.round = has_gone_on ? 4 : 3, .group_world_size = 5};
    checker_->OnReport(kOne, 2, report);
    report.place->round = 3;
    report.round_end = rendezvous::RoundEnd{.cancelled = true, .epoch = 1};
    checker_->OnReport(kZero, 1, report);
    step_.status.nodes = {Node(kZero, {})};
    step_.decisions = {{"assign", 4, "", ""}};
    checker_->OnStep(step_);
    EXPECT_EQ(checker_->breach().empty(), has_gone_on);
  }
}

TEST_F(TakeoverCheckersTest, ReportsANodeWithAVerdictOfItsOwn) {
  Use(NewOneVerdictChecker);
  checker_->OnStep(Finish(rendezvous::Outcome::kFailed, 3));
  agent::LifecycleStep step;
  step.leave.emplace();
  step.leave->verdict.emplace();
  checker_->OnAgentStepped(kOne, step, now_);
  EXPECT_THAT(checker_->breach(), HasSubstr("failed (3, ) and succeeded"));
}

class TakeoverTimeCheckerTest : public TakeoverCheckersTest {
 protected:
  TakeoverTimeCheckerTest() {
    LoseCoordinator(rendezvous::Takeover::kMajority, 2, 2);
  }

  // Starts a new checker, for a job of min_nodes to max_nodes nodes. Reports to
  // the checker that nodes 0 and 1 run a round and have lost their coordinator.
  void LoseCoordinator(rendezvous::Takeover takeover, int min_nodes,
                       int max_nodes) {
    plan_.spec.takeover = takeover;
    plan_.spec.min_nodes = min_nodes;
    plan_.spec.max_nodes = max_nodes;
    plan_.link_timeout = seconds(1);
    Use(NewTakeoverTimeChecker);
    for (AgentName agent : {kZero, kOne}) checker_->OnAgentStarted(agent);
    Begins(1, 1);
    Knows(kZero, 1, 2);
    checker_->OnCoordinatorCrashed();
  }
  // Reports to the checker that the agent knows an electorate: the world of
  // `round`, which has `nodes` nodes.
  void Knows(AgentName agent, int round, int nodes) {
    agent::LifecycleStep step;
    step.report = ReportOf(agent, 1);
    step.report->electorate = {.epoch = 1,
                               .world = {.epoch = 1, .round = round},
                               .nodes = nodes,
                               .rank = agent.slot};
    checker_->OnAgentStepped(agent, step, now_);
  }
};

TEST_F(TakeoverTimeCheckerTest, ReportsThatNobodyTakesOver) {
  Tick(seconds(48));
  EXPECT_EQ(checker_->breach(), "");
  Tick(seconds(2));
  EXPECT_THAT(checker_->breach(), HasSubstr("nobody has taken over within"));
}

// A job of three nodes has lost its coordinator before the first round. Only
// nodes 0 and 1 run. Both know the endpoint of one standby. The standby of node
// 1 ("c1") is alive, so the nodes must elect a coordinator. The standby of node
// 2 ("c2") does not run, so no election is required.
TEST_F(TakeoverTimeCheckerTest, NodesThatKnowAStandbyElectBeforeTheFirstRound) {
  for (const char* endpoint : {"c1", "c2"}) {
    plan_.spec.takeover = rendezvous::Takeover::kAuto;
    plan_.spec.min_nodes = plan_.spec.max_nodes = 3;
    Use(NewTakeoverTimeChecker);
    agent::LifecycleStep step;
    step.standbys = {endpoint};
    for (AgentName agent : {kZero, kOne}) {
      checker_->OnAgentStarted(agent);
      checker_->OnAgentStepped(agent, step, now_);
    }
    checker_->OnCoordinatorCrashed();
    Tick(seconds(60));
    EXPECT_EQ(checker_->breach().empty(), endpoint == std::string("c2"));
  }
}

TEST_F(TakeoverTimeCheckerTest, ANodeThatLeavesElectsNobody) {
  agent::LifecycleStep step;
  step.report = ReportOf(kOne, 1);
  step.report->leave = "SIGTERM";
  checker_->OnAgentStepped(kOne, step, now_);
  Tick(seconds(60));
  EXPECT_EQ(checker_->breach(), "");
}

TEST_F(TakeoverTimeCheckerTest, AWorldThatMayHaveBegunNeedsItsOwnMajority) {
  Starts(kZero, 1, 2, 0);
  Tick(seconds(60));
  EXPECT_EQ(checker_->breach(), "");
  // Both nodes of the world of round 2 have now started their workers. So these
  // two nodes can elect a coordinator, and must do so in time.
  Starts(kOne, 1, 2, 1);
  Knows(kZero, 2, 2);
  checker_->OnCoordinatorCrashed();
  Tick(seconds(60));
  EXPECT_THAT(checker_->breach(), HasSubstr("nobody has taken over within"));
}

// Only node 0 has started round 2. If both nodes of the electorate belong to
// round 2 (`electors` is 2), node 1 has not started it, so it can never begin
// on all of its nodes. A majority of the electorate is then enough for an
// election, and the missing takeover is a breach.
TEST_F(TakeoverTimeCheckerTest, ARoundThatCannotBeginDoesNotElect) {
  for (const int electors : {1, 2}) {
    LoseCoordinator(rendezvous::Takeover::kMajority, 1, 2);
    checker_->OnWorkersStarted(
        kZero, 1, {.round = 2, .group_world_size = 2, .electors = electors});
    Tick(seconds(60));
    EXPECT_EQ(checker_->breach().empty(), electors == 1);
  }
}

// The job has at most two nodes (max_nodes) besides spares. If node 1 is none,
// no other node can exist, so nodes 0 and 1 must elect a coordinator. If node 1
// is a spare, another node may form a world elsewhere, so no election is
// required.
TEST_F(TakeoverTimeCheckerTest, ASpareIsNotOneOfTheNodesThatCanExist) {
  for (const bool is_spare : {true, false}) {
    LoseCoordinator(rendezvous::Takeover::kAuto, 1, 2);
    checker_->OnAgentEnded(kOne);
    const AgentName again = {.slot = kOne.slot, .incarnation = 9};
    checker_->OnAgentStarted(again);
    agent::LifecycleStep step;
    step.report = ReportOf(again, 1);
    step.report->electorate = {.epoch = 1, .nodes = 2, .rank = -1};
    step.report->electorate.is_spare = is_spare;
    checker_->OnAgentStepped(again, step, now_);
    Tick(seconds(60));
    EXPECT_EQ(checker_->breach().empty(), is_spare);
  }
}

TEST_F(TakeoverTimeCheckerTest, ANodeThatFindsNobodyElectsNobody) {
  checker_->OnAgentEnded(kZero);
  checker_->OnAgentStarted({.slot = 3, .incarnation = 9});
  Tick(seconds(60));
  EXPECT_EQ(checker_->breach(), "");
}

TEST_F(TakeoverTimeCheckerTest,
       AMemberThatWasStartedAgainElectsIfTwoWorldsCannot) {
  for (const rendezvous::Takeover takeover :
       {rendezvous::Takeover::kMajority, rendezvous::Takeover::kAuto}) {
    LoseCoordinator(takeover, 3, 5);
    checker_->OnAgentEnded(kOne);
    checker_->OnAgentStarted({.slot = kOne.slot, .incarnation = 9});
    Tick(seconds(60));
    EXPECT_EQ(checker_->breach().empty(),
              takeover == rendezvous::Takeover::kMajority);
  }
}

// In an electorate of three nodes, node 2 is lost and node 1 was restarted.
// With max_nodes 3, only one other node can exist besides nodes 0 and 1. One
// node is too few for a round (min_nodes is 2), so nodes 0 and 1 must elect a
// coordinator. With max_nodes 4, two other nodes can exist, and no election is
// required.
TEST_F(TakeoverTimeCheckerTest, AWorldIsNotNeededIfTooFewOfItAreElsewhere) {
  for (const int max_nodes : {4, 3}) {
    LoseCoordinator(rendezvous::Takeover::kAuto, 2, max_nodes);
    const AgentName lost = {.slot = 2, .incarnation = 3};
    checker_->OnAgentStarted(lost);
    rendezvous::Place place = {.round = 1, .group_world_size = 3};
    for (const AgentName& agent : {kZero, kOne, lost}) {
      place.group_rank = agent.slot;
      checker_->OnWorkersStarted(agent, 1, place);
    }
    Knows(kZero, 1, 3);
    checker_->OnAgentEnded(lost);
    Starts(kZero, 1, 2, 0);
    Starts(kOne, 1, 2, 1);
    checker_->OnAgentEnded(kOne);
    checker_->OnAgentStarted({.slot = kOne.slot, .incarnation = 9});
    checker_->OnCoordinatorCrashed();
    Tick(seconds(60));
    EXPECT_EQ(checker_->breach().empty(), max_nodes == 4) << max_nodes;
  }
}

TEST_F(TakeoverTimeCheckerTest, WaitsAgainAfterAFault) {
  Tick(seconds(40));
  checker_->OnTrouble(1);
  Tick(seconds(40));
  EXPECT_EQ(checker_->breach(), "");
}

TEST_F(TakeoverTimeCheckerTest, ATakeoverOrTheLossOfTheMajorityEndsTheWait) {
  checker_->OnCoordinatorStarted(2);
  Tick(seconds(60));
  checker_->OnCoordinatorCrashed();
  checker_->OnAgentPaused(kOne);
  Tick(seconds(60));
  EXPECT_EQ(checker_->breach(), "");
}

class EtcdCheckersTest : public CheckersTest {
 protected:
  EtcdCheckersTest() { plan_.daemons = 2; }

  void Finish(rendezvous::Outcome outcome) {
    CoordinatorStepped step = step_;
    step.decisions = {{.kind = "finish"}};
    step.status.verdict.emplace();
    step.status.verdict->outcome = outcome;
    checker_->OnStep(step);
  }
  void Starts(AgentName agent, int round, int rank, int restarts) {
    rendezvous::Place place = Run(agent, round, rank).directive.place;
    place.restart_count = restarts;
    checker_->OnWorkersStarted(agent, 1, place);
  }
};

TEST_F(EtcdCheckersTest, EachLeaderGivesOrdersUntilTheNextOneIsChosen) {
  Use(NewLeaderChecker);
  checker_->OnLeader(5);
  checker_->OnMayOrder(5);
  checker_->OnLeader(6);
  checker_->OnMayOrder(6);
  // A directive that was sent in time may arrive later.
  rendezvous::Directive directive;
  directive.epoch = 5;
  checker_->OnDirective(kZero, directive);
  EXPECT_EQ(checker_->breach(), "");
}

TEST_F(EtcdCheckersTest, AFormerLeaderGivesAnOrder) {
  Use(NewLeaderChecker);
  checker_->OnLeader(5);
  checker_->OnLeader(6);
  checker_->OnMayOrder(5);
  EXPECT_THAT(checker_->breach(), HasSubstr("epoch 5 gives orders after"));
}

TEST_F(EtcdCheckersTest, TwoLeadersHaveOneEpoch) {
  Use(NewLeaderChecker);
  checker_->OnLeader(5);
  checker_->OnLeader(5);
  EXPECT_THAT(checker_->breach(), HasSubstr("epoch 5 follows epoch 5"));
}

TEST_F(EtcdCheckersTest, ADirectiveComesFromNoLeader) {
  Use(NewLeaderChecker);
  checker_->OnLeader(5);
  rendezvous::Directive directive;
  directive.epoch = 4;
  checker_->OnDirective(kZero, directive);
  EXPECT_THAT(checker_->breach(), HasSubstr("which no leader has"));
}

TEST_F(EtcdCheckersTest, TheRecordOfAJobIsLost) {
  Use(NewLeaderChecker);
  CoordinatorStepped step = step_;
  step.decisions = {{.kind = "adopt", .reason = "round 2 goes on"}};
  checker_->OnStep(step);
  EXPECT_THAT(checker_->breach(), HasSubstr("continues without its record"));
}

TEST_F(EtcdCheckersTest, AVerdictThatTakeoversMayReplaceIsFinal) {
  Use(NewOneVerdictChecker);
  Finish(rendezvous::Outcome::kTimedOut);
  EXPECT_EQ(checker_->breach(), "");
  Finish(rendezvous::Outcome::kCancelled);
  EXPECT_NE(checker_->breach(), "");
}

TEST_F(EtcdCheckersTest, ARestartIsForgottenAlthoughAllItsNodesHaveEnded) {
  Use(NewSpendingChecker);
  checker_->OnWorkerFailed(kZero, 1, 1, rendezvous::Failure());
  Starts(kZero, 2, 0, 1);
  Starts(kOne, 2, 1, 1);
  checker_->OnAgentEnded(kZero);
  checker_->OnAgentEnded(kOne);
  EXPECT_EQ(checker_->breach(), "");
  Starts({.slot = 0, .incarnation = 9}, 3, 0, 0);
  EXPECT_THAT(checker_->breach(), HasSubstr("restart 0 in round 3 after 1"));
}

// A clock that is slow by 5 % shows the end of a lease later.
TEST_F(EtcdCheckersTest, ASlowClockMayExtendALease) {
  plan_.clock_ppm = 50'000;
  plan_.spec.keep_alive_misses = 10;
  Use(NewDetectionChecker);
  const Duration lease = plan_.spec.lease();
  checker_->OnReport(kZero, 1, ReportOf(kZero, 1));
  CoordinatorStepped step = step_;
  step.status.nodes = {Node(kZero, 0)};
  Advance(lease + lease / 20);
  checker_->OnStep(step);
  EXPECT_EQ(checker_->breach(), "");
  Advance(lease / 10);
  checker_->OnStep(step);
  EXPECT_THAT(checker_->breach(), HasSubstr("still counted"));
}

}  // namespace
}  // namespace muster::simulation
