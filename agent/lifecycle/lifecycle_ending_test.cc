// Tests of how an agent exits: by the verdict, by a signal, or without a
// coordinator. Also tests which node prints messages about the whole job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "agent/lifecycle/lifecycle_fixture.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(LifecycleEnd, ExitCodeIsTheVerdicts) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.AllDown();
  EXPECT_FALSE(agent.leave.has_value());
  agent.TellFinished(3);
  ASSERT_TRUE(agent.leave.has_value());
  EXPECT_EQ(agent.leave->exit_code, 3);
  ASSERT_TRUE(agent.leave->verdict.has_value());
  EXPECT_EQ(agent.leave->reason, "over");
}

TEST(LifecycleEnd, OnlyOnceNothingIsLeft) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.TellFinished(0);
  EXPECT_FALSE(agent.leave.has_value());
  EXPECT_THAT(agent.signals, ElementsAre(SIGTERM));
  agent.Wait(seconds(10));
  EXPECT_THAT(agent.signals, ElementsAre(SIGTERM, SIGKILL));
  agent.Fails(0);
  agent.Fails(1);
  EXPECT_FALSE(agent.leave.has_value());
  agent.Gone();
  EXPECT_TRUE(agent.leave.has_value());
}

TEST(LifecycleEnd, EventsAfterTheEndChangeNothing) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.TellFinished(0);
  agent.TellRun(2);
  agent.Fails(0);
  agent.Fails(1);
  agent.Gone();
  EXPECT_EQ(agent.starts.size(), 1u);
  ASSERT_TRUE(agent.leave.has_value());
  EXPECT_EQ(agent.leave->exit_code, 0);
}

TEST(LifecycleEnd, ReleasedIsASuccessRefusedIsNot) {
  for (const auto& [kind, code] :
       {std::pair(rendezvous::DirectiveKind::kReleased, 0),
        {rendezvous::DirectiveKind::kRefused, 1}}) {
    LifecycleFixture agent;
    agent.Connect();
    rendezvous::Directive directive = DirectiveOf(kind);
    directive.reason = "because";
    agent.Tell(directive);
    ASSERT_TRUE(agent.leave.has_value());
    EXPECT_EQ(agent.leave->exit_code, code);
    EXPECT_EQ(agent.leave->reason, "because");
    EXPECT_FALSE(agent.leave->verdict.has_value());
  }
}

TEST(LifecycleEnd, OtherProtocolVersion) {
  LifecycleFixture agent;
  agent.Connect();
  rendezvous::Directive directive =
      DirectiveOf(rendezvous::DirectiveKind::kRun);
  directive.place.round = 1;
  directive.protocol_version = 99;
  agent.Tell(directive);
  ASSERT_TRUE(agent.leave.has_value());
  EXPECT_EQ(agent.leave->exit_code, 1);
  EXPECT_THAT(agent.leave->reason, HasSubstr("protocol version 99"));
  EXPECT_THAT(agent.starts, IsEmpty());
}

TEST(LifecycleEnd, TheGuardianDied) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Forget();
  agent.Step(GuardianDied{"the guardian was killed by signal 9"});
  ASSERT_TRUE(agent.leave.has_value());
  EXPECT_EQ(agent.leave->exit_code, kWorkersLostExitCode);
  EXPECT_THAT(agent.leave->reason,
              HasSubstr("the guardian was killed by signal 9; this node has "
                        "lost its workers, and leaves the job"));
  ASSERT_EQ(agent.reports.size(), 1u);
  EXPECT_EQ(agent.reports[0].phase, rendezvous::NodePhase::kIdle);
  EXPECT_EQ(agent.reports[0].leave, "the guardian was killed by signal 9");
}

TEST(LifecycleCancel, ACtrlCIsTheCoordinatorsToDecide) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Forget();
  agent.Step(SignalCaught{SIGINT});
  ASSERT_EQ(agent.reports.size(), 1u);
  ASSERT_TRUE(agent.reports[0].cancel.has_value());
  EXPECT_EQ(agent.reports[0].cancel->signal, SIGINT);
  EXPECT_FALSE(agent.reports[0].cancel->at_once);
  EXPECT_THAT(agent.signals, IsEmpty());
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kRunning);
}

TEST(LifecycleCancel, AnyHandledSignalEndsTheJob) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Forget();
  agent.Step(SignalCaught{SIGUSR1});
  ASSERT_TRUE(agent.reports.back().cancel.has_value());
  EXPECT_EQ(agent.reports.back().cancel->signal, SIGUSR1);
  EXPECT_THAT(agent.reports.back().signals, IsEmpty());
}

TEST(LifecycleCancel, ASecondOneKillsAtOnce) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Step(SignalCaught{SIGINT});
  agent.Forget();
  agent.Step(SignalCaught{SIGINT});
  EXPECT_TRUE(agent.reports.back().cancel->at_once);
  EXPECT_THAT(agent.everything, ElementsAre(SIGKILL));
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
}

TEST(LifecycleCancel, ASecondOneCutsTheGraceShort) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Step(SignalCaught{SIGINT});
  agent.TellStop(1, seconds(10));
  agent.Forget();
  agent.Step(SignalCaught{SIGTERM});
  EXPECT_THAT(agent.everything, ElementsAre(SIGKILL));
}

TEST(LifecycleCancel, WithoutAnAnswerThisNodeStopsItsPart) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Step(SignalCaught{SIGINT});
  agent.Wait(milliseconds(4999));
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kRunning);
  agent.Wait(milliseconds(1));
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
  EXPECT_THAT(agent.signals, ElementsAre(SIGTERM));
  agent.Fails(0);
  agent.Fails(1);
  agent.Gone();
  ASSERT_TRUE(agent.leave.has_value());
  EXPECT_EQ(agent.leave->exit_code, 130);
}

TEST(LifecycleCancel, AnsweredCancelHasNoTimeLimit) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Step(SignalCaught{SIGINT});
  agent.TellStop(1);
  agent.Wait(seconds(8));
  EXPECT_FALSE(agent.leave.has_value());
  agent.Fails(0);
  agent.Fails(1);
  agent.Gone();
  EXPECT_FALSE(agent.leave.has_value());
  agent.TellFinished(130);
  EXPECT_EQ(agent.leave->exit_code, 130);
}

TEST(LifecycleCancel, BeforeTheCoordinatorWasEverThereItIsImmediate) {
  LifecycleFixture agent;
  agent.Step(SignalCaught{SIGTERM});
  ASSERT_TRUE(agent.leave.has_value());
  EXPECT_EQ(agent.leave->exit_code, 143);
}

TEST(LifecycleCancel, WithoutAConnectionThisNodeStopsItsPartAtOnce) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.Disconnect();
  agent.Forget();
  agent.Step(SignalCaught{SIGINT});
  EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
  EXPECT_THAT(agent.signals, ElementsAre(SIGTERM));
  agent.Fails(0);
  agent.Fails(1);
  agent.Gone();
  EXPECT_EQ(agent.leave->exit_code, 130);
}

class LifecycleLeaving : public ::testing::Test {
 protected:
  static Lifecycle::Config LeavesOnTerm() {
    Lifecycle::Config config = LifecycleFixture::QuickConfig();
    config.policy.signals_to_leave = {SIGTERM, kConnectionLostSignal};
    return config;
  }
  LifecycleLeaving() : agent_(LeavesOnTerm()) { agent_.Run(1); }
  LifecycleFixture agent_;
};

TEST_F(LifecycleLeaving, IsAskedForAndGranted) {
  agent_.Forget();
  agent_.Step(SignalCaught{SIGTERM});
  EXPECT_EQ(agent_.reports.back().leave, "SIGTERM");
  EXPECT_FALSE(agent_.reports.back().cancel.has_value());
  agent_.TellStop(1);
  agent_.Wait(seconds(7));
  agent_.Fails(0);
  agent_.Fails(1);
  agent_.Gone();
  EXPECT_FALSE(agent_.leave.has_value());
  rendezvous::Directive directive =
      DirectiveOf(rendezvous::DirectiveKind::kReleased);
  agent_.Tell(directive);
  EXPECT_EQ(agent_.leave->exit_code, 0);
}

TEST_F(LifecycleLeaving, OfALostConnectionHasAnExitCodeOfItsOwn) {
  agent_.Step(SignalCaught{kConnectionLostSignal});
  EXPECT_EQ(agent_.reports.back().leave,
            "the connection to the launch that started it was lost");
  agent_.TellStop(1);
  agent_.Fails(0);
  agent_.Fails(1);
  agent_.Gone();
  agent_.Tell(DirectiveOf(rendezvous::DirectiveKind::kReleased));
  EXPECT_EQ(agent_.leave->exit_code, kWorkersLostExitCode);

  LifecycleFixture unanswered(LeavesOnTerm());
  unanswered.Run(1);
  unanswered.Disconnect();
  unanswered.Step(SignalCaught{kConnectionLostSignal});
  unanswered.Fails(0);
  unanswered.Fails(1);
  unanswered.Gone();
  EXPECT_EQ(unanswered.leave->exit_code, kWorkersLostExitCode);
}

TEST_F(LifecycleLeaving, ASecondSignalKillsThisNodesWorkersOnly) {
  agent_.Step(SignalCaught{SIGTERM});
  agent_.Forget();
  agent_.Step(SignalCaught{SIGTERM});
  EXPECT_THAT(agent_.everything, ElementsAre(SIGKILL));
  EXPECT_FALSE(agent_.reports.back().cancel.has_value());
}

TEST_F(LifecycleLeaving, NodeLeavesWithoutAnAnswer) {
  agent_.Step(SignalCaught{SIGTERM});
  agent_.Wait(seconds(5));
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kStopping);
  agent_.Fails(0);
  agent_.Fails(1);
  agent_.Gone();
  EXPECT_EQ(agent_.leave->exit_code, 0);
}

TEST_F(LifecycleLeaving, OfALostConnectionWithoutAnAnswerHasItsExitCode) {
  agent_.Step(SignalCaught{kConnectionLostSignal});
  agent_.Wait(seconds(5));
  agent_.Fails(0);
  agent_.Fails(1);
  agent_.Gone();
  EXPECT_EQ(agent_.leave->exit_code, kWorkersLostExitCode);
}

TEST_F(LifecycleLeaving, WithoutACoordinatorItGoesAtOnce) {
  agent_.Disconnect();
  agent_.Step(SignalCaught{SIGTERM});
  EXPECT_EQ(agent_.phase(), rendezvous::NodePhase::kStopping);
  agent_.Fails(0);
  agent_.Fails(1);
  agent_.Gone();
  ASSERT_TRUE(agent_.leave.has_value());
  EXPECT_EQ(agent_.leave->exit_code, 0);
  EXPECT_EQ(agent_.leave->reason, "left by SIGTERM without a coordinator");
}

TEST_F(LifecycleLeaving, BeforeTheCoordinatorHasAnsweredItGoesAtOnce) {
  LifecycleFixture fresh(LeavesOnTerm());
  fresh.Connect();
  fresh.Step(SignalCaught{SIGTERM});
  ASSERT_TRUE(fresh.leave.has_value());
  EXPECT_EQ(fresh.leave->exit_code, 0);
}

TEST_F(LifecycleLeaving, OtherSignalsStillCancelTheJob) {
  agent_.Step(SignalCaught{SIGINT});
  EXPECT_TRUE(agent_.reports.back().cancel.has_value());
}

TEST(LifecycleSpare, SuccessWithoutItHasAnExitCodeOfItsOwn) {
  LifecycleFixture agent;
  agent.Connect();
  agent.TellWait();
  agent.TellFinished(0);
  ASSERT_TRUE(agent.leave.has_value());
  EXPECT_EQ(agent.leave->exit_code, rendezvous::kNeverRanExitCode);
  EXPECT_TRUE(agent.leave->never_ran);
  EXPECT_THAT(agent.leave->reason, HasSubstr("its program never ran"));
}

TEST(LifecycleSpare, ExitCodeOfASpareIsConfigurable) {
  Lifecycle::Config config = LifecycleFixture::QuickConfig();
  config.policy.never_ran_exit_code = 0;
  LifecycleFixture agent(config);
  agent.Connect();
  agent.TellFinished(0);
  EXPECT_EQ(agent.leave->exit_code, 0);
  EXPECT_TRUE(agent.leave->never_ran);
}

TEST(LifecycleSpare, ARestartedAgentOfANodeThatHasRunIsNone) {
  LifecycleFixture agent;
  agent.Connect();
  rendezvous::Directive finished =
      DirectiveOf(rendezvous::DirectiveKind::kFinished);
  finished.took_part = true;
  agent.Tell(finished);
  EXPECT_EQ(agent.leave->exit_code, 0);
  EXPECT_FALSE(agent.leave->never_ran);
}

TEST(LifecycleSpare, AJobThatFailedEndsItAsTheOthers) {
  LifecycleFixture agent;
  agent.Connect();
  rendezvous::Directive failed =
      DirectiveOf(rendezvous::DirectiveKind::kFinished);
  failed.verdict.outcome = rendezvous::Outcome::kFailed;
  failed.verdict.exit_code = 3;
  agent.Tell(failed);
  EXPECT_EQ(agent.leave->exit_code, 3);
  EXPECT_FALSE(agent.leave->never_ran);
}

TEST(LifecycleSpare, ANodeThatHasRunOnceIsNone) {
  LifecycleFixture agent;
  agent.Run(1);
  agent.TellStop(1);
  agent.AllDown();
  agent.TellWait();
  agent.TellFinished(0);
  EXPECT_EQ(agent.leave->exit_code, 0);
  EXPECT_FALSE(agent.leave->never_ran);
}

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct Node {
  JobMessages job_messages = JobMessages::kAssigned;
  // whether the directive selects this node to print messages about the job
  bool prints_for_job = false;
};

class LifecycleJobMessages : public ::testing::Test {
 protected:
  static LifecycleFixture AgentOf(const Node& node) {
    Lifecycle::Config config = LifecycleFixture::QuickConfig();
    config.policy.job_messages = node.job_messages;
    LifecycleFixture agent(config);
    agent.Connect();
    return agent;
  }

  static rendezvous::Directive Run(const Node& node, int restarts = 0) {
    rendezvous::Directive directive =
        DirectiveOf(rendezvous::DirectiveKind::kRun);
    directive.prints_for_job = node.prints_for_job;
    directive.place.round = 1;
    directive.place.group_world_size = 3;
    directive.place.world_size = 6;
    directive.place.restart_count = restarts;
    return directive;
  }

  // Returns the notices that a node prints while it waits, runs a round and
  // stops the broken round.
  static std::vector<std::string> SaidBy(const Node& node) {
    LifecycleFixture agent = AgentOf(node);
    rendezvous::Directive wait = DirectiveOf(rendezvous::DirectiveKind::kWait);
    wait.prints_for_job = node.prints_for_job;
    wait.reason = "1 of 3 nodes here";
    agent.Tell(wait);
    agent.Tell(Run(node));
    rendezvous::Directive signalled = Run(node);
    signalled.signals = {{1, SIGUSR2}};
    agent.Tell(signalled);
    EXPECT_THAT(agent.signals, ElementsAre(SIGUSR2));
    rendezvous::Directive stop = DirectiveOf(rendezvous::DirectiveKind::kStop);
    stop.prints_for_job = node.prints_for_job;
    stop.reason = "b was lost";
    stop.stop = {.round = 1, .signal = SIGTERM, .grace = seconds(10)};
    agent.Tell(stop);
    EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
    return agent.notices;
  }
};

TEST_F(LifecycleJobMessages, OnlyTheSelectedNodePrintsJobMessages) {
  for (const JobMessages job_messages :
       {JobMessages::kAssignedAndGeneral, JobMessages::kAssigned}) {
    EXPECT_THAT(
        SaidBy({job_messages, true}),
        ElementsAre("waiting: 1 of 3 nodes here", "round 1: 3 nodes, 6 workers",
                    "SIGUSR2 goes to every worker",
                    "round 1 is broken (b was lost); stopping the workers"));
    EXPECT_THAT(SaidBy({job_messages, false}), IsEmpty());
  }
}

TEST_F(LifecycleJobMessages, NodeWithItsOwnOutputPrintsEverything) {
  EXPECT_THAT(
      SaidBy({JobMessages::kAll, false}),
      ElementsAre("waiting: 1 of 3 nodes here",
                  "round 1: node 0 of 3 with ranks 0-1 of 6",
                  "SIGUSR2 goes to every worker",
                  "round 1 is broken (b was lost); stopping the workers"));
}

TEST_F(LifecycleJobMessages, ARoundsRestartAndTheSingular) {
  const Node speaker = {JobMessages::kAssignedAndGeneral, true};
  LifecycleFixture agent = AgentOf(speaker);
  rendezvous::Directive run = Run(speaker, 2);
  run.place.group_world_size = 1;
  run.place.world_size = 1;
  agent.Tell(run);
  EXPECT_THAT(agent.notices, ElementsAre("round 1: 1 node, 1 worker, "
                                         "restart 2"));
}

TEST_F(LifecycleJobMessages, EachSaysWhatConcernsItselfAlone) {
  const Node other = {JobMessages::kAssigned, false};
  LifecycleFixture agent = AgentOf(other);
  agent.Tell(Run(other));
  agent.Fails(0);
  EXPECT_THAT(agent.notices, ElementsAre(HasSubstr("failed: exit code 3")));
  agent.Disconnect();
  EXPECT_THAT(agent.notices, Contains(StartsWith("lost the coordinator")));
}

TEST_F(LifecycleJobMessages, ASignalThatAllOfThemCatch) {
  const auto said = [](JobMessages job_messages) {
    LifecycleFixture agent = AgentOf({job_messages, false});
    agent.Tell(Run({job_messages, false}));
    agent.Forget();
    agent.Step(SignalCaught{SIGINT});
    agent.Step(SignalCaught{SIGINT});
    EXPECT_THAT(agent.signals, ElementsAre(SIGKILL));
    return agent.notices;
  };
  const auto both = ElementsAre(StartsWith("caught SIGINT: stopping the job"),
                                StartsWith("caught a second signal"));
  EXPECT_THAT(said(JobMessages::kAll), both);
  EXPECT_THAT(said(JobMessages::kAssignedAndGeneral), both);
  EXPECT_THAT(said(JobMessages::kAssigned), IsEmpty());
}

TEST(LifecycleCause, AnotherOneIsSaidOnce) {
  LifecycleFixture agent;
  agent.Run(1);
  rendezvous::Directive stop = DirectiveOf(rendezvous::DirectiveKind::kStop);
  stop.stop = {.round = 1, .signal = 15, .grace = std::chrono::seconds(10)};
  stop.reason = "rank 2 on b: exit code 1";
  agent.Tell(stop);
  agent.Forget();
  stop.reason = "rank 1 on a: hung";
  agent.TellSame(stop);
  EXPECT_THAT(agent.notices,
              ::testing::ElementsAre(HasSubstr(
                  "round 1 broke because rank 1 on a: hung; what was named")));
  agent.TellSame(stop);
  EXPECT_EQ(agent.notices.size(), 1u);
  // A newer directive orders the same round to stop, for another reason. The
  // node prints a second notice, with the new reason.
  stop.reason = "rank 0 on a: exit code 1";
  agent.Tell(stop);
  EXPECT_EQ(agent.notices.size(), 2u);
}

}  // namespace
}  // namespace muster::agent
