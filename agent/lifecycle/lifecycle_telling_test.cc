// Tests of the choice of the node that prints messages about the whole job.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "agent/lifecycle/lifecycle_fixture.h"

namespace muster::agent {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct Node {
  Telling telling = Telling::kOther;
  // the directive says that this node speaks for the job
  bool said_here = false;
};

class LifecycleTelling : public ::testing::Test {
 protected:
  static LifecycleFixture AgentOf(const Node& node) {
    Lifecycle::Config config = LifecycleFixture::QuickConfig();
    config.policy.telling = node.telling;
    LifecycleFixture agent(config);
    agent.Connect();
    return agent;
  }

  static rendezvous::Directive Run(const Node& node, int restarts = 0) {
    rendezvous::Directive directive =
        DirectiveOf(rendezvous::DirectiveKind::kRun);
    directive.said_here = node.said_here;
    directive.place.round = 1;
    directive.place.group_world_size = 3;
    directive.place.world_size = 6;
    directive.place.restart_count = restarts;
    return directive;
  }

  // The notices of a node during a wait, a round and the round's break.
  static std::vector<std::string> SaidBy(const Node& node) {
    LifecycleFixture agent = AgentOf(node);
    rendezvous::Directive wait = DirectiveOf(rendezvous::DirectiveKind::kWait);
    wait.said_here = node.said_here;
    wait.reason = "1 of 3 nodes here";
    agent.Tell(wait);
    agent.Tell(Run(node));
    rendezvous::Directive signalled = Run(node);
    signalled.signals = {{1, SIGUSR2}};
    agent.Tell(signalled);
    EXPECT_THAT(agent.signals, ElementsAre(SIGUSR2));
    rendezvous::Directive stop = DirectiveOf(rendezvous::DirectiveKind::kStop);
    stop.said_here = node.said_here;
    stop.reason = "b was lost";
    stop.stop = {.round = 1, .signal = SIGTERM, .grace = seconds(10)};
    agent.Tell(stop);
    EXPECT_EQ(agent.phase(), rendezvous::NodePhase::kStopping);
    return agent.notices;
  }
};

TEST_F(LifecycleTelling, OneSaysWhatHoldsForTheJob) {
  for (const Telling telling : {Telling::kFirst, Telling::kOther}) {
    EXPECT_THAT(
        SaidBy({telling, true}),
        ElementsAre("waiting: 1 of 3 nodes here", "round 1: 3 nodes, 6 workers",
                    "SIGUSR2 goes to every worker",
                    "round 1 is broken (b was lost); stopping the workers"));
    EXPECT_THAT(SaidBy({telling, false}), IsEmpty());
  }
}

TEST_F(LifecycleTelling, WithATerminalOfItsOwnANodeSaysAll) {
  EXPECT_THAT(
      SaidBy({Telling::kAlone, false}),
      ElementsAre("waiting: 1 of 3 nodes here",
                  "round 1: node 0 of 3 with ranks 0-1 of 6",
                  "SIGUSR2 goes to every worker",
                  "round 1 is broken (b was lost); stopping the workers"));
}

TEST_F(LifecycleTelling, ARoundsRestartAndTheSingular) {
  const Node speaker = {Telling::kFirst, true};
  LifecycleFixture agent = AgentOf(speaker);
  rendezvous::Directive run = Run(speaker, 2);
  run.place.group_world_size = 1;
  run.place.world_size = 1;
  agent.Tell(run);
  EXPECT_THAT(agent.notices, ElementsAre("round 1: 1 node, 1 worker, "
                                         "restart 2"));
}

TEST_F(LifecycleTelling, EachSaysWhatConcernsItselfAlone) {
  const Node other = {Telling::kOther, false};
  LifecycleFixture agent = AgentOf(other);
  agent.Tell(Run(other));
  agent.Fails(0);
  EXPECT_THAT(agent.notices, ElementsAre(HasSubstr("failed: exit code 3")));
  agent.Disconnect();
  EXPECT_THAT(agent.notices, Contains(StartsWith("lost the coordinator")));
}

TEST_F(LifecycleTelling, ASignalThatAllOfThemCatch) {
  const auto said = [](Telling telling) {
    LifecycleFixture agent = AgentOf({telling, false});
    agent.Tell(Run({telling, false}));
    agent.Forget();
    agent.Step(SignalCaught{SIGINT});
    agent.Step(SignalCaught{SIGINT});
    EXPECT_THAT(agent.signals, ElementsAre(SIGKILL));
    return agent.notices;
  };
  const auto both = ElementsAre(StartsWith("caught SIGINT: stopping the job"),
                                StartsWith("caught a second signal"));
  EXPECT_THAT(said(Telling::kAlone), both);
  EXPECT_THAT(said(Telling::kFirst), both);
  EXPECT_THAT(said(Telling::kOther), IsEmpty());
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
}

}  // namespace
}  // namespace muster::agent
