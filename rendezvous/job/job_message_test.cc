// Tests of the messages between coordinator and agents: repeated and dropped
// messages, the number of messages, signals, and a restarted coordinator. Tests
// of which node prints messages about the whole job, if the outputs of the
// nodes share a console. Tests of two agents that claim one place, and of
// agents that are incompatible with the job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(JobMessages, ADirectiveThatWasNotSeenIsSentAgain) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  job.agent("a").deaf = true;
  job.Join("b");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kWait);
  job.agent("a").deaf = false;
  job.Report("a");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kRun);
}

TEST(JobMessages, ASeenDirectiveIsNotSentAgain) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Report("a");
  EXPECT_THAT(job.last_step().deliveries, IsEmpty());
  EXPECT_THAT(job.last_step().decisions, IsEmpty());
}

TEST(JobMessages, ANewStreamIsAlwaysAnswered) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  const Directive before = job.told("a");
  job.Reconnect("a");
  ASSERT_EQ(job.last_step().deliveries.size(), 1u);
  EXPECT_EQ(job.told("a").revision, before.revision);
  EXPECT_EQ(job.told("a").place.round, 1);
}

TEST(JobMessages, StaleReportsAreDropped) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  Report late = job.agent("a").report;
  late.phase = NodePhase::kIdle;
  // `late` has the same sequence number as the last report of node a, so the
  // coordinator must ignore it as stale.
  job.Step(ReportArrived{job.agent("a").stream, late});
  --late.sequence;
  job.Step(ReportArrived{job.agent("a").stream, late});
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_THAT(job.last_step().deliveries, IsEmpty());
}

TEST(JobMessages, ANewerDirectiveHasAHigherRevision) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  uint64_t last = job.told("a").revision;
  EXPECT_EQ(job.told("a").epoch, 7u);
  EXPECT_GT(last, 0u);
  const auto expect_higher = [&] {
    EXPECT_GT(job.told("a").revision, last);
    last = job.told("a").revision;
  };
  job.Join("b");
  // Each new directive to node "a" must have a higher revision: first kRun,
  // then the order to stop after b's failure, then kRun of the next round.
  expect_higher();
  job.Runs("a");
  job.Runs("b");
  job.Fails("b", ExitedWith(2, 1));
  expect_higher();
  job.Idle("a");
  job.Idle("b");
  expect_higher();
  EXPECT_EQ(job.kind("a"), DirectiveKind::kRun);
}

TEST(JobMessages, AStopIsConfirmedByANodeThatNeverStarted) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  job.Join("b");
  job.Runs("a");
  job.agent("b").deaf = true;  // b does not receive the stop order
  job.Fails("a", ExitedWith(0, 1));
  job.Idle("a");
  job.Report("b");
  // Node b has not received the stop order and might still start round 1, so
  // the round is not over.
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.agent("b").deaf = false;
  job.Report("b");
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  EXPECT_EQ(job.kind("b"), DirectiveKind::kStop);
  job.Report("b");
  EXPECT_EQ(job.round(), 2);
}

TEST(JobMessages, ANodeGetsOneDirectiveInAStep) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  job.Join("b");
  EXPECT_EQ(job.last_step().deliveries.size(), 2u);
  job.Runs("a");
  job.Runs("b");
  job.Fails("a", ExitedWith(0, 1));
  EXPECT_EQ(job.last_step().deliveries.size(), 2u);
}

TEST(JobMessages, CostOfAReportDoesNotGrowWithTheNodes) {
  constexpr int kNodes = 200;
  JobFixture job(QuickSpec(kNodes, kNodes));
  for (int i = 0; i < kNodes - 1; ++i) {
    job.Join(absl::StrCat("n", i));
    EXPECT_LE(job.last_step().deliveries.size(), 1u);
    EXPECT_LE(job.last_step().decisions.size(), 1u);
  }
  job.Join(absl::StrCat("n", kNodes - 1));
  // One report may cause at most kNodes + 1 directives: a kRun directive for
  // each node, and before that a kWait directive for the last node.
  EXPECT_LE(job.last_step().deliveries.size(), kNodes + 1u);
  for (int i = 0; i < kNodes; ++i) {
    job.Runs(absl::StrCat("n", i));
    EXPECT_THAT(job.last_step().deliveries, IsEmpty());
  }
  job.Fails("n7", ExitedWith(14, 1));
  EXPECT_LE(job.last_step().deliveries.size(), kNodes + 1u);
  for (int i = 0; i < kNodes - 1; ++i) {
    job.Idle(absl::StrCat("n", i));
    EXPECT_LE(job.last_step().deliveries.size(), 1u);
  }
}

TEST(JobSignals, GoToEveryMemberOnce) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b", "spare"});
  job.agent("a").report.signals = {{.ordinal = 1, .signal = 10}};
  job.Report("a");
  for (const char* name : {"a", "b"}) {
    ASSERT_EQ(job.kind(name), DirectiveKind::kRun);
    ASSERT_EQ(job.told(name).signals.size(), 1u);
    EXPECT_EQ(job.told(name).signals[0].ordinal, 1u);
    EXPECT_EQ(job.told(name).signals[0].signal, 10);
  }
  EXPECT_EQ(job.kind("spare"), DirectiveKind::kWait);
  job.Report("a");
  EXPECT_EQ(job.Count("signal"), 1);
  EXPECT_EQ(job.Decided("signal"), "SIGUSR1 at a goes to every worker");
}

TEST(JobSignals, OrdinalsIncreaseOverAllNodes) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.agent("a").report.signals = {{.ordinal = 1, .signal = 10}};
  job.Report("a");
  job.agent("b").report.signals = {{.ordinal = 1, .signal = 12}};
  job.Report("b");
  ASSERT_EQ(job.told("a").signals.size(), 2u);
  EXPECT_EQ(job.told("a").signals[1].ordinal, 2u);
  EXPECT_EQ(job.told("a").signals[1].signal, 12);
}

TEST(JobSignals, OnlyTheLastFewAreKept) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a"});
  for (uint64_t i = 1; i <= 20; ++i) {
    job.agent("a").report.signals = {{.ordinal = i, .signal = 10}};
    job.Report("a");
  }
  ASSERT_EQ(job.told("a").signals.size(),
            static_cast<size_t>(kMaxSignalNotices));
  EXPECT_EQ(job.told("a").signals.back().ordinal, 20u);
}

TEST(JobSignals, DoNotReachTheNextRound) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a"});
  job.agent("a").report.signals = {{.ordinal = 1, .signal = 10}};
  job.Report("a");
  job.Fails("a", ExitedWith(0, 1));
  job.agent("a").report.signals.push_back({.ordinal = 2, .signal = 12});
  job.Idle("a");
  ASSERT_EQ(job.round(), 2);
  EXPECT_THAT(job.told("a").signals, IsEmpty());
  job.Runs("a");
  EXPECT_EQ(job.Count("signal"), 1);
}

TEST(JobSignals, SignalsOfAReturningNodeAreNotSentAgain) {
  JobSpec spec = QuickSpec(1, 2);
  JobFixture job(spec);
  job.StartAll({"a", "b"});
  job.agent("b").report.signals = {{.ordinal = 1, .signal = 10}};
  job.Report("b");
  job.BreakStream("b");
  job.Wait(milliseconds(500));
  job.Idle("a");
  ASSERT_EQ(job.round(), 2);
  job.Runs("a");
  job.Reconnect("b");
  EXPECT_EQ(job.Count("signal"), 1);
  EXPECT_THAT(job.told("a").signals, IsEmpty());
}

TEST(JobRestart, AgentsOfAnEarlierCoordinatorStopAndGoOnWithTheNextRound) {
  JobFixture job(QuickSpec(2, 2), 8);
  for (const char* name : {"a", "b"}) {
    Report& report = job.Create(name).report;
    report.round = 7;
    report.phase = NodePhase::kRunning;
    report.seen_epoch = 7;
    report.seen_revision = 55;
    job.Join(name);
    ASSERT_EQ(job.kind(name), DirectiveKind::kStop);
    EXPECT_EQ(job.told(name).stop.round, 7);
    EXPECT_EQ(job.told(name).reason,
              "a new coordinator does not know it, and no majority of its "
              "nodes has come");
    EXPECT_EQ(job.told(name).stop.grace, seconds(10));
  }
  job.Idle("a");
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Idle("b");
  EXPECT_EQ(job.told("a").place.round, 8);
  EXPECT_THAT(job.Decided("assign"), HasSubstr("round 8 begins"));
}

// Node a reports round 3 of an earlier coordinator. The job needs a second
// node, which never reports, so the job times out. The verdict must count the
// three rounds.
TEST(JobRestart, TheVerdictCountsTheRoundsOfTheEarlierCoordinator) {
  JobFixture job(QuickSpec(2, 2), 8);
  Report& report = job.Create("a").report;
  report.round = 3;
  job.Join("a");
  job.Wait(seconds(120));
  ASSERT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.told("a").verdict.outcome, Outcome::kTimedOut);
  EXPECT_EQ(job.told("a").verdict.rounds, 3);
}

TEST(JobRestart, AClaimOfAHigherRoundDoesNotTouchTheOneThatRuns) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  const Directive before = job.told("a");
  Report& late = job.Create("late").report;
  late.round = 7;
  late.phase = NodePhase::kRunning;
  job.Join("late");
  EXPECT_EQ(job.kind("late"), DirectiveKind::kStop);
  EXPECT_EQ(job.told("late").stop.round, 7);
  job.Wait(seconds(10));
  EXPECT_EQ(job.round(), 1);
  EXPECT_EQ(job.told("a").revision, before.revision);
  job.Fails("a", ExitedWith(0, 1));
  job.AllStop();
  job.Idle("a");
  EXPECT_EQ(job.round(), 8);
}

// A stranger can learn a node's incarnation from `launch status`, but not the
// place key, the secret that the node's agent sends only to the coordinator.
TEST(JobPlaceKey, AnIncarnationWithoutItsKeyIsRefused) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  Report& stranger = job.Create("stranger").report;
  stranger.node.node_id = "b";
  stranger.node.incarnation = job.agent("b").report.node.incarnation;
  stranger.sequence = 1000;
  job.Join("stranger");
  EXPECT_EQ(job.kind("stranger"), DirectiveKind::kRefused);
  job.BreakStream("b");
  job.Report("stranger");
  EXPECT_EQ(job.kind("stranger"), DirectiveKind::kRefused);
  EXPECT_THAT(job.Decided("refuse"), HasSubstr("from 10.0.0.3 does not show"));
  job.Reconnect("b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kRun);
  EXPECT_EQ(job.round(), 1);
}

TEST(JobPlaceKey, ALostIncarnationReturnsOnlyWithItsKey) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.Lose("b");
  Report& stranger = job.Create("stranger").report;
  stranger.node = job.agent("b").report.node;
  stranger.sequence = 1000;
  job.Join("stranger");
  EXPECT_EQ(job.kind("stranger"), DirectiveKind::kRefused);
  job.Reconnect("b");
  EXPECT_NE(job.kind("b"), DirectiveKind::kRefused);
}

TEST(JobPlaceKey, AnOlderAgentHasNoneAndReturnsByItsIncarnation) {
  JobFixture job(QuickSpec(2, 2));
  job.Create("b").report.place_key = "";
  job.StartAll({"a", "b"});
  job.BreakStream("b");
  job.Reconnect("b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kRun);
  EXPECT_EQ(job.round(), 1);
}

// An agent with the same node id starts on another host while the stream of the
// place's holder is broken. It may be a stranger, so the holder keeps its place
// for the reconnect grace.
TEST(JobPlaceKey, ABrokenNodesPlaceIsKeptFromOtherHosts) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.BreakStream("b");
  job.Create("stranger").report.node.node_id = "b";
  job.Join("stranger");
  EXPECT_EQ(job.kind("stranger"), DirectiveKind::kWait);
  EXPECT_THAT(job.told("stranger").reason, HasSubstr("is held by b"));
  job.Reconnect("b");
  job.Report("b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kRun);
  EXPECT_EQ(job.round(), 1);
  EXPECT_EQ(job.kind("stranger"), DirectiveKind::kRefused);
}

TEST(JobPlaceKey, AnAgentElsewhereTakesThePlaceOnceTheGraceIsOver) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.BreakStream("b");
  job.Create("elsewhere").report.node.node_id = "b";
  job.Join("elsewhere");
  job.Wait(seconds(2));
  job.Idle("a");
  EXPECT_EQ(job.kind("elsewhere"), DirectiveKind::kRun);
  EXPECT_EQ(job.round(), 2);
}

TEST(JobPlaceKey, AnAgentOnTheSameHostTakesThePlaceAtOnce) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.BreakStream("b");
  job.Restart("b");
  job.Idle("a");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kRun);
  EXPECT_EQ(job.round(), 2);
}

// A stranger could exhaust the round numbers with one report that names the
// highest one.
TEST(JobRestart, AnImpossibleRoundIsRefusedAndEndsNothing) {
  JobFixture job(QuickSpec(2, 3));
  Report& stranger = job.Create("stranger").report;
  stranger.round = 1'000'000'000;
  job.Join("stranger");
  EXPECT_EQ(job.kind("stranger"), DirectiveKind::kRefused);
  EXPECT_THAT(job.told("stranger").reason, HasSubstr("round 1000000000"));
  EXPECT_THAT(job.Decided("refuse"), HasSubstr("round 1000000000"));
  job.StartAll({"a", "b"});
  job.Wait(seconds(4));
  job.Runs("a");
  job.Runs("b");
  EXPECT_EQ(job.round(), 1);
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
}

TEST(JobRestart, AMemberThatNamesAnImpossibleRoundIsRefused) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.agent("b").report.round = 1'000'000'000;
  job.Report("b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kRefused);
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

// An agent first reports to this coordinator while its workers of round 4 stop.
// An earlier coordinator has already ordered the agent to run round 5, and the
// agent's next report says that it runs round 5. So this coordinator must give
// the next round the number 6.
TEST(JobRestart, ARoundThatAnAgentBeganMeanwhileCountsAsWell) {
  JobFixture job(QuickSpec(1, 1), 8);
  Report& report = job.Create("a").report;
  report.round = 4;
  report.phase = NodePhase::kStopping;
  job.Join("a");
  report.round = 5;
  report.phase = NodePhase::kRunning;
  job.Report("a");
  job.Idle("a");
  job.Wait(seconds(4));
  EXPECT_EQ(job.told("a").place.round, 6);
}

// Returns the nodes among `names` that print their directive on the console
// that all nodes share (prints_for_job), if the directive is of `kind`.
std::vector<std::string> Say(JobFixture& job, DirectiveKind kind,
                             const std::vector<std::string>& names) {
  std::vector<std::string> speakers;
  for (const std::string& name : names) {
    const Directive& told = job.told(name);
    if (told.kind == kind && told.prints_for_job) speakers.push_back(name);
  }
  return speakers;
}

TEST(JobSpeaker, TheFirstNodePrintsTheWaitReason) {
  JobFixture job(QuickSpec(4, 4));
  std::vector<std::string> here;
  for (const char* name : {"b", "a", "c"}) {
    job.Join(name);
    here.emplace_back(name);
    job.Report("b");
    EXPECT_THAT(Say(job, DirectiveKind::kWait, here), ElementsAre("b"));
  }
  EXPECT_THAT(job.told("b").reason, HasSubstr("3 of 4"));
  job.BreakStream("b");
  job.Report("c");
  job.Report("a");
  EXPECT_THAT(Say(job, DirectiveKind::kWait, {"a", "c"}), ElementsAre("a"));
  job.Reconnect("b");
  job.Report("a");
  EXPECT_THAT(Say(job, DirectiveKind::kWait, {"a", "b", "c"}),
              ElementsAre("a"));
}

TEST(JobSpeaker, RankZeroSpeaksWhileARoundRuns) {
  JobFixture job(QuickSpec(3, 3));
  job.StartAll({"b", "c", "a"});
  EXPECT_THAT(job.World(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Say(job, DirectiveKind::kRun, {"a", "b", "c"}), ElementsAre("a"));
}

TEST(JobSpeaker, TheLowestRankLeftSpeaksAfterABreak) {
  JobFixture job(QuickSpec(3, 3));
  job.StartAll({"a", "b", "c"});
  job.agent("a").silent = true;
  job.Lose("a");
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  EXPECT_THAT(Say(job, DirectiveKind::kStop, {"b", "c"}), ElementsAre("b"));
  job.Stopping("c");
  job.Idle("c");
  job.Stopping("b");
  job.Idle("b");
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  EXPECT_THAT(Say(job, DirectiveKind::kWait, {"b", "c"}), ElementsAre("b"));
  EXPECT_THAT(job.told("b").reason, HasSubstr("round 1 is over"));
}

TEST(JobSpeaker, ASpareSaysThatItIsOne) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  for (const char* name : {"c", "d"}) job.Join(name);
  EXPECT_THAT(Say(job, DirectiveKind::kWait, {"c", "d"}),
              ElementsAre("c", "d"));
  job.Fails("b", ExitedWith(2, 1));
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.Report("c");
  EXPECT_THAT(job.told("c").reason, HasSubstr("is being stopped"));
  EXPECT_THAT(Say(job, DirectiveKind::kWait, {"c"}), IsEmpty());
}

TEST(JobSpeaker, ANodeThatTheJobWentOnWithoutSaysSo) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.agent("b").silent = true;
  job.Lose("b");
  job.AllStop();
  job.Runs("a");
  EXPECT_EQ(job.round(), 2);
  job.Reconnect("b");
  EXPECT_THAT(Say(job, DirectiveKind::kStop, {"b"}), ElementsAre("b"));
  EXPECT_EQ(job.told("b").reason, "the job went on without this node");
}

TEST(JobSpeaker, ANodeThatStillRunsAnOldRoundPrintsTheReason) {
  JobSpec spec = QuickSpec(3, 4);
  spec.last_call = Duration::zero();
  JobFixture job(spec);
  job.StartAll({"a", "b", "c"});
  job.Join("d");
  job.Wait(seconds(5));
  ASSERT_EQ(job.told("b").stop.cause, StopCause::kAsked);
  for (const char* name : {"b", "c"}) {
    job.agent(name).silent = true;
    job.BreakStream(name);
  }
  job.Idle("a");
  job.Wait(seconds(1));
  ASSERT_EQ(job.phase(), JobPhase::kGathering);
  ASSERT_EQ(job.round(), 1);
  job.Reconnect("b");
  EXPECT_THAT(Say(job, DirectiveKind::kStop, {"b"}), ElementsAre("b"));
  EXPECT_EQ(job.told("b").reason, "the job went on without this node");
  // The stop cause is kBroken, because the other nodes have ended b's round,
  // and b's workers would wait for their peers for ever.
  EXPECT_EQ(job.told("b").stop.cause, StopCause::kBroken);
}

// Node a stops round 2 because of a Ctrl-C, while node b still has workers of
// round 1. The stop order for b must not contain the signal and the cause of
// round 2's stop.
TEST(JobSpeaker, AStopOfAnEarlierRoundIsAsAnyOther) {
  JobFixture job(QuickSpec(1, 2));
  job.StartAll({"a", "b"});
  job.agent("b").silent = true;
  job.Lose("b");
  job.AllStop();
  job.Runs("a");
  job.agent("a").report.cancel = CancelWish{.signal = 2};
  job.Report("a");
  ASSERT_EQ(job.told("a").stop.cause, StopCause::kCancelled);
  job.Reconnect("b");
  ASSERT_EQ(job.kind("b"), DirectiveKind::kStop);
  EXPECT_EQ(job.told("b").stop.round, 1);
  EXPECT_EQ(job.told("b").stop.signal, 15);
  EXPECT_EQ(job.told("b").stop.cause, StopCause::kBroken);
}

TEST(JobSpeaker, RestartedCoordinatorHasASingleSpeaker) {
  JobFixture job(QuickSpec(2, 2));
  for (const char* name : {"b", "a"}) {
    Report& report = job.Create(name).report;
    report.round = 5;
    report.phase = NodePhase::kRunning;
    job.Join(name);
  }
  EXPECT_THAT(job.told("a").reason, HasSubstr("no majority"));
  EXPECT_THAT(Say(job, DirectiveKind::kStop, {"a", "b"}), ElementsAre("b"));
}

TEST(JobSpeaker, AContenderPrintsThatItWaits) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  job.Create("x").report.node.node_id = "a";
  job.Join("x");
  EXPECT_THAT(job.told("x").reason, HasSubstr("is held by"));
  EXPECT_TRUE(job.told("x").prints_for_job);
}

// A job of two nodes. Node "b" has node rank 1; agent "c" was started by
// mistake with the same rank.
class JobContentionTest : public ::testing::Test {
 protected:
  JobContentionTest() : job_(QuickSpec(2, 2)) {
    job_.Create("a").report.node.node_rank = 0;
    job_.Create("b").report.node.node_rank = 1;
    job_.StartAll({"a", "b"});
    job_.Create("c").report.node.node_rank = 1;
  }
  JobFixture job_;
};

TEST_F(JobContentionTest, RefusedOnceTheHolderShowsThatItLives) {
  job_.Join("c");
  ASSERT_EQ(job_.kind("c"), DirectiveKind::kWait);
  EXPECT_THAT(job_.told("c").reason, HasSubstr("node b is held by b"));
  EXPECT_EQ(job_.kind("b"), DirectiveKind::kRun);
  job_.Report("b");
  ASSERT_EQ(job_.kind("c"), DirectiveKind::kRefused);
  EXPECT_THAT(job_.told("c").reason, HasSubstr("already held by b"));
  EXPECT_THAT(job_.told("c").reason, HasSubstr("--node-rank"));
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
  EXPECT_EQ(job_.round(), 1);
}

TEST_F(JobContentionTest, AReportThatMayBeOlderThanTheClaimProvesNothing) {
  job_.agent("b").deaf = true;
  job_.Join("c");
  job_.Report("b");
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kWait);
  // When c claimed b's place, the coordinator sent b a directive with a new
  // revision, but b did not receive it. The next report of b makes the
  // coordinator send the directive again. Only b's report after that one names
  // the new revision, which proves that b is alive.
  job_.agent("b").deaf = false;
  job_.Report("b");
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kWait);
  job_.Report("b");
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kRefused);
}

TEST_F(JobContentionTest, AdmittedOnceTheHoldersLeaseHasRunOut) {
  job_.agent("b").silent = true;
  job_.Join("c");
  job_.Wait(seconds(4));
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kWait);
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
  job_.Wait(seconds(1));
  EXPECT_EQ(job_.phase(), JobPhase::kStopping);
  job_.Report("c");
  job_.Idle("a");
  EXPECT_EQ(job_.round(), 2);
  EXPECT_EQ(job_.told("c").place.group_rank, 1);
  // Node b, which held the place before, reports again. This is too late: node
  // c has the place now, so b is refused.
  job_.Report("b");
  EXPECT_THAT(job_.told("b").reason, HasSubstr("node c is held by c"));
  job_.Report("c");
  EXPECT_EQ(job_.kind("b"), DirectiveKind::kRefused);
}

TEST_F(JobContentionTest, TheClaimerMayReconnectMeanwhile) {
  job_.agent("b").deaf = true;
  job_.Join("c");
  job_.BreakStream("c");
  job_.Reconnect("c");
  job_.agent("b").deaf = false;
  job_.Report("b");
  job_.Report("b");
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kRefused);
}

TEST_F(JobContentionTest, ALateReportDoesNotTakeThePlaceInstead) {
  // Give agent c the same (empty) address as the late report of node b that
  // this test sends. An agent with another address would have to wait for b's
  // place.
  job_.agent("c").peer = "";
  job_.agent("b").silent = true;
  job_.Wait(seconds(5));
  job_.Join("c");
  job_.Report("b");  // node b was lost; node c has its place
  Report late = job_.agent("b").report;
  const StreamId stream = job_.agent("b").stream;
  job_.BreakStream("c");
  job_.Step(ReportArrived{stream, late});
  EXPECT_NE(job_.status().nodes[1].node.node_id, "b");
  ++late.sequence;
  job_.Step(ReportArrived{stream, late});
  EXPECT_EQ(job_.status().nodes[1].node.node_id, "b");
}

// A contender (a second agent with the id of a node of the job) reconnects
// while the coordinator still holds the contender's old stream. A late report
// on the old stream must not make that stream the node's stream again.
// Otherwise directives would be lost, and the end of the new stream would not
// be noticed.
TEST_F(JobContentionTest, StaleReportOfAContenderDoesNotTakeThePlace) {
  job_.agent("b").silent = true;
  job_.Join("c");
  const Report stale = job_.agent("c").report;
  const StreamId old = job_.agent("c").stream;
  job_.Reconnect("c");
  job_.agent("c").silent = true;
  job_.Wait(seconds(5));  // node b is lost
  job_.Step(ReportArrived{old, stale});
  EXPECT_EQ(job_.status().nodes.size(), 1u);
  job_.Report("c");
  EXPECT_EQ(job_.status().nodes.size(), 2u);
  job_.BreakStream("c");
  job_.Wait(milliseconds(500));
  EXPECT_EQ(job_.status().nodes.size(), 1u);
}

TEST_F(JobContentionTest, ContenderGoesOnWaitingWhenAnotherTakesThePlace) {
  job_.agent("b").silent = true;
  job_.Join("c");
  const Report first = job_.agent("c").report;
  job_.Restart("c");
  job_.agent("c").silent = true;
  job_.Wait(seconds(5));  // node b is lost
  job_.Report("c");
  ASSERT_EQ(job_.status().nodes.size(), 2u);
  job_.Create("d").report = first;
  job_.Join("d");
  EXPECT_EQ(job_.kind("d"), DirectiveKind::kWait);
  EXPECT_THAT(job_.told("d").reason, HasSubstr("node c is held by c"));
}

TEST_F(JobContentionTest, AnAgentStartedAnewAtOnceIsNotRefused) {
  // The coordinator has not noticed the end of the old agent's stream, and the
  // old agent's last report is still in flight.
  JobFixture::Agent& b = job_.agent("b");
  Report last_words = b.report;
  ++last_words.sequence;
  const StreamId old = b.stream;
  job_.Restart("b");
  EXPECT_EQ(job_.kind("b"), DirectiveKind::kWait);
  job_.Step(ReportArrived{old, last_words});
  EXPECT_EQ(job_.kind("b"), DirectiveKind::kWait);
  job_.Step(StreamClosed{old});
  job_.Wait(milliseconds(500));
  job_.Idle("a");
  job_.Report("b");
  EXPECT_EQ(job_.kind("b"), DirectiveKind::kRun);
}

TEST_F(JobContentionTest, AnIncarnationThatWasFollowedNeverComesBack) {
  JobFixture::Agent& b = job_.agent("b");
  const Report old = b.report;
  job_.BreakStream("b");
  job_.Wait(milliseconds(500));  // node b is lost, but may return
  job_.Restart("b");
  job_.Idle("a");
  ASSERT_EQ(job_.round(), 2);
  job_.BreakStream("b");
  Report late = old;
  late.sequence += 10;
  b.stream = 0;
  job_.agent("c").report = late;
  job_.agent("c").report.node = old.node;
  job_.Reconnect("c");
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kRefused);
  EXPECT_EQ(job_.told("c").reason, "another agent has taken this node's place");
  job_.Reconnect("b");
  EXPECT_EQ(job_.kind("b"), DirectiveKind::kRun);
}

TEST(JobAdmission, OtherNnodesAreRefused) {
  JobFixture job(QuickSpec(2, 2));
  job.Join("a");
  job.Create("b").report.spec.max_nodes = 3;
  job.Join("b");
  ASSERT_EQ(job.kind("b"), DirectiveKind::kRefused);
  EXPECT_THAT(job.told("b").reason, HasSubstr("--nnodes=2:2"));
  EXPECT_THAT(job.told("b").reason, HasSubstr(job.Decided("refuse")));
  EXPECT_TRUE(job.told("b").another_job);
  EXPECT_EQ(job.status().nodes.size(), 1u);
}

TEST(JobAdmission, RefusedNodeAloneSeesTheCommand) {
  JobSpec spec = QuickSpec(1, 1);
  spec.command = "sleep 5 --token=s3cret";
  JobFixture job(spec);
  job.StartAll({"a"});
  job.Create("b").report.spec.command = "true";
  job.Join("b");
  ASSERT_EQ(job.kind("b"), DirectiveKind::kRefused);
  EXPECT_TRUE(job.told("b").another_job);
  EXPECT_THAT(job.told("b").reason, HasSubstr("s3cret"));
  EXPECT_THAT(job.Decided("refuse"), HasSubstr("another command"));
  EXPECT_THAT(job.Decided("refuse"), Not(HasSubstr("s3cret")));
  EXPECT_EQ(job.status().spec.command, "");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

TEST(JobAdmission, ANodeRankBeyondTheWorldIsRefused) {
  JobFixture job(QuickSpec(2, 2));
  job.Create("a").report.node.node_rank = 2;
  job.Join("a");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kRefused);
  EXPECT_THAT(job.told("a").reason, HasSubstr("node rank 2 is out of range"));
}

// A replacement agent starts while the agent that it replaces is still writing
// a checkpoint.
class JobSuccession : public JobContentionTest {
 protected:
  JobSuccession() {
    job_.agent("c").report.waits_for_place = true;
    job_.Join("c");
    job_.Report("b");
    job_.Report("c");
  }
};

TEST_F(JobSuccession, WaitsWhileTheHolderIsAlive) {
  ASSERT_EQ(job_.kind("c"), DirectiveKind::kWait);
  EXPECT_THAT(job_.told("c").reason, HasSubstr("which is alive"));
  EXPECT_THAT(job_.status().reason, HasSubstr("c waits for the end of node b"));
  EXPECT_THAT(job_.Decided("successor"), HasSubstr("c, process"));
  job_.Wait(seconds(30));
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kWait);
  EXPECT_EQ(job_.Count("successor"), 1);
  EXPECT_EQ(job_.round(), 1);
  EXPECT_EQ(job_.phase(), JobPhase::kRunning);
}

TEST_F(JobSuccession, TakesThePlaceWhenTheHolderHasEnded) {
  job_.BreakStream("b");
  job_.agent("b").silent = true;
  job_.Wait(seconds(1));  // longer than the reconnect grace of b
  job_.Report("c");
  job_.Idle("a");
  job_.Report("c");
  EXPECT_EQ(job_.round(), 2);
  EXPECT_THAT(job_.World(), ::testing::ElementsAre("a", "c"));
  EXPECT_THAT(job_.status().reason, Not(HasSubstr("waits for the end")));
}

TEST_F(JobSuccession, IsNoLongerShownWhenThePlaceIsFree) {
  EXPECT_THAT(job_.status().reason, HasSubstr("waits for the end"));
  job_.agent("b").silent = true;
  job_.agent("c").silent = true;
  // Lose breaks b's stream and waits longer than b's reconnect grace.
  job_.Lose("b");
  EXPECT_THAT(job_.status().reason, Not(HasSubstr("waits for the end")));
}

TEST_F(JobSuccession, HasABound) {
  job_.Wait(seconds(59));
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kWait);
  job_.agent("c").silent = true;
  job_.Wait(seconds(2));  // the join time-out has passed
  job_.Report("c");
  job_.Report("b");
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kRefused);
  EXPECT_THAT(job_.status().reason, Not(HasSubstr("waits for the end")));
}

TEST_F(JobSuccession, SuccessorGetsTheVerdict) {
  job_.Succeeds("a");
  job_.Succeeds("b");
  ASSERT_EQ(job_.kind("c"), DirectiveKind::kFinished);
  EXPECT_EQ(job_.told("c").verdict.outcome, Outcome::kSucceeded);
  // Forget the directive that c has received, as if it had been lost. The
  // coordinator must send it again.
  job_.agent("c").told = Directive();
  job_.Report("c");
  EXPECT_EQ(job_.kind("c"), DirectiveKind::kFinished);
}

TEST_F(JobSuccession, EndsWithItsConnection) {
  job_.BreakStream("c");
  EXPECT_THAT(job_.status().reason, Not(HasSubstr("waits for the end")));
  job_.Reconnect("c");
  job_.Report("b");
  job_.Report("c");
  EXPECT_THAT(job_.told("c").reason, HasSubstr("which is alive"));
}

}  // namespace
}  // namespace muster::rendezvous
