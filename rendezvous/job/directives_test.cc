#include "rendezvous/job/directives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace muster::rendezvous {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Instant At(int second) { return Instant(seconds(second)); }

// A job at second 100 that runs round 3 on the nodes "a" and "b"; "c" is a
// spare.
class DirectivesTest : public ::testing::Test {
 protected:
  DirectivesTest() {
    state_.epoch = 7;
    state_.spec.min_nodes = state_.spec.max_nodes = 2;
    state_.spec.shutdown_timeout = seconds(10);
    state_.now = At(100);
    state_.round = 3;
    state_.phase = JobPhase::kRunning;
    state_.why = "2 nodes";
    std::vector<const NodeIdentity*> members;
    for (const char* const id : {"a", "b", "c"}) {
      Node& node = state_.nodes.Add({.node_id = id, .host = id}, At(0));
      state_.nodes.SetStream(node, state_.nodes.size());
      if (node.identity.node_id == "c") continue;
      node.part = Part::kRunning;
      node.phase = NodePhase::kRunning;
      node.round = 3;
      node.group_rank = static_cast<int>(members.size());
      members.push_back(&node.identity);
    }
    state_.world = LayOut(members);
    state_.gathering.End();
  }

  Node& node(const char* id) { return *state_.nodes.Find(id); }
  DirectiveKind KindFor(const char* id) {
    return KeyFor(state_, node(id)).kind;
  }
  Directive For(const char* id) { return DirectiveFor(state_, node(id)); }

  JobState state_;
  Outbox outbox_{&state_};
};

TEST_F(DirectivesTest, MembersRunAndASpareWaits) {
  EXPECT_EQ(KindFor("a"), DirectiveKind::kRun);
  EXPECT_EQ(For("b").place.group_rank, 1);
  EXPECT_EQ(For("b").place.round, 3);
  EXPECT_EQ(KindFor("c"), DirectiveKind::kWait);
  EXPECT_THAT(For("c").reason, HasSubstr("spare: round 3"));
}

TEST_F(DirectivesTest, GroupRankZeroPrintsTheRound) {
  EXPECT_TRUE(For("a").prints_for_job);
  EXPECT_FALSE(For("b").prints_for_job);
  EXPECT_TRUE(For("c").prints_for_job);
}

TEST_F(DirectivesTest, ABrokenRoundIsStoppedAsOrdered) {
  state_.phase = JobPhase::kStopping;
  state_.speaker = "b";
  state_.stopping = {.signal = 2, .cause = StopCause::kCancelled};
  EXPECT_EQ(KindFor("a"), DirectiveKind::kStop);
  const Directive stop = For("b");
  EXPECT_EQ(stop.stop.signal, 2);
  EXPECT_EQ(stop.stop.grace, seconds(10));
  EXPECT_EQ(stop.stop.cause, StopCause::kCancelled);
  EXPECT_TRUE(stop.prints_for_job);
  EXPECT_FALSE(For("a").prints_for_job);
  state_.stopping.at_once = true;
  EXPECT_EQ(For("b").stop.grace, Duration::zero());
}

TEST_F(DirectivesTest, ANodeThatRunsAnotherRoundStopsIt) {
  node("c").phase = NodePhase::kRunning;
  node("c").round = 2;
  state_.stopping = {.signal = 2};
  const Directive stop = For("c");
  EXPECT_EQ(stop.kind, DirectiveKind::kStop);
  EXPECT_EQ(stop.stop.round, 2);
  EXPECT_EQ(stop.stop.signal, StopOrder().signal);
  EXPECT_EQ(stop.reason, "the job went on without this node");
}

TEST_F(DirectivesTest, OnlyTheSpeakerActsForAFinishedJob) {
  state_.phase = JobPhase::kFinished;
  state_.verdict = NewVerdict(Outcome::kSucceeded, 0, "done");
  state_.speaker = ChooseSpeaker(state_);
  EXPECT_TRUE(For("a").acts_for_job);
  EXPECT_FALSE(For("b").acts_for_job);
}

TEST_F(DirectivesTest, TheSpeakerIsTheFirstConnectedMember) {
  EXPECT_EQ(ChooseSpeaker(state_), "a");
  state_.nodes.SetStream(node("a"), 0);
  EXPECT_EQ(ChooseSpeaker(state_), "b");
  state_.nodes.SetStream(node("b"), 0);
  EXPECT_EQ(ChooseSpeaker(state_), "c");
  state_.nodes.SetStream(node("c"), 0);
  EXPECT_EQ(ChooseSpeaker(state_), "");
}

TEST_F(DirectivesTest, ARevisionStandsForAKey) {
  outbox_.Tell(node("a"));
  EXPECT_EQ(node("a").revision, 1u);
  outbox_.Tell(node("a"));
  EXPECT_EQ(node("a").revision, 1u);
  state_.phase = JobPhase::kStopping;
  outbox_.Tell(node("a"));
  EXPECT_EQ(node("a").revision, 2u);
  EXPECT_EQ(outbox_.Renew(node("a")), 3u);
  EXPECT_EQ(outbox_.revision(), 3u);
  EXPECT_THAT(outbox_.Take().deliveries, SizeIs(4));
}

TEST_F(DirectivesTest, ADisconnectedNodeIsSentNothing) {
  state_.nodes.SetStream(node("a"), 0);
  outbox_.Tell(node("a"));
  EXPECT_EQ(node("a").revision, 0u);
  EXPECT_THAT(outbox_.Take().deliveries, SizeIs(0));
}

TEST_F(DirectivesTest, AReportIsAnsweredOnlyIfSomethingIsNew) {
  outbox_.Begin();
  EXPECT_EQ(outbox_.Unanswered(), std::nullopt);
  outbox_.Await(node("c"), 0);
  EXPECT_EQ(outbox_.Unanswered(), "c");  // "c" has received no directive yet
  outbox_.Tell(node("c"));
  EXPECT_EQ(outbox_.Unanswered(), std::nullopt);

  outbox_.Begin();
  outbox_.Await(node("c"), node("c").revision);
  EXPECT_EQ(outbox_.Unanswered(), std::nullopt);
  outbox_.Reword();
  EXPECT_EQ(outbox_.Unanswered(), "c");

  outbox_.Begin();
  outbox_.Tell(node("c"));
  outbox_.Await(node("c"), 0);  // 0: node c has seen no directive
  EXPECT_EQ(outbox_.Unanswered(), "c");
}

TEST_F(DirectivesTest, AStreamOutsideOfTheJobIsRefused) {
  outbox_.Refuse(9, {.told = "another command", .another_job = true});
  const JobStep step = outbox_.Take();
  ASSERT_THAT(step.deliveries, SizeIs(1));
  EXPECT_EQ(step.deliveries[0].stream, 9u);
  EXPECT_EQ(step.deliveries[0].directive.kind, DirectiveKind::kRefused);
  EXPECT_TRUE(step.deliveries[0].directive.another_job);
  EXPECT_TRUE(step.deliveries[0].directive.prints_for_job);
}

TEST_F(DirectivesTest, StatusListsMembersByRankAndNoCommand) {
  state_.spec.command = "train --key=secret";
  node("a").group_rank = 1;
  node("b").group_rank = 0;
  state_.successors[9] = {.node_id = "a", .host = "d"};
  const JobStatus status = StatusOf(state_, At(101));
  EXPECT_EQ(status.spec.command, "");
  ASSERT_THAT(status.nodes, SizeIs(3));
  EXPECT_EQ(status.nodes[0].node.node_id, "b");
  EXPECT_EQ(status.nodes[1].node.node_id, "a");
  EXPECT_EQ(status.nodes[2].group_rank, std::nullopt);
  EXPECT_THAT(status.reason, HasSubstr("d waits for the end of node a"));
}

TEST_F(DirectivesTest, ThePhaseDeadlineIsTheEarliest) {
  EXPECT_EQ(PhaseDeadline(state_), std::nullopt);
  state_.preemption = Preemption{.notice = {}, .deadline = At(150)};
  EXPECT_EQ(PhaseDeadline(state_), At(150));
  state_.world.unstarted = 1;
  state_.world.began = At(90);
  state_.spec.join_timeout = seconds(20);
  EXPECT_EQ(PhaseLimit(state_), At(110));
  EXPECT_EQ(PhaseDeadline(state_), At(110));
  state_.phase = JobPhase::kStopping;
  EXPECT_EQ(PhaseLimit(state_), std::nullopt);
  state_.world.unstopped = 1;
  state_.stopping.Limit(At(100), seconds(10));
  EXPECT_EQ(PhaseDeadline(state_), At(115));
}

}  // namespace
}  // namespace muster::rendezvous
