// Runs several coordinators and standbys of one job, and cuts nodes off at the
// worst moments. Two worlds must never run on all of their nodes at the same
// time.

#include "rendezvous/takeover/testing/succession.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::IsEmpty;
using Names = std::vector<std::string>;

JobSpec SpecOf(int min_nodes, int max_nodes, Takeover takeover) {
  JobSpec spec = QuickSpec(min_nodes, max_nodes);
  spec.takeover = takeover;
  return spec;
}

// Lets the nodes run the job's first round, with the coordinator in `process`.
void RunRoundOne(Succession& job, const Names& names,
                 const std::string& process) {
  job.Connect(names, process);
  job.Wait(seconds(6));
  for (const char* name : {"a", "b"}) ASSERT_EQ(job.report(name).round, 1);
}

// The nodes come to `process`, which stands by.
void Gather(Succession& job, const Names& names, const std::string& process) {
  job.StandBy(process, 11);
  job.Connect(names, process);
}

// Connects the nodes `others` to the coordinator in `process`, so that they can
// take part in the next round, and then cuts the nodes `lost` off.
void ReplaceNodes(Succession& job, const Names& lost, const Names& others,
                  const std::string& process) {
  job.Connect(others, process);
  job.Wait(seconds(2));
  job.Cut(lost);
}

// Round 1 runs on nodes a, b, c and d, and round 2 on nodes a, b and f. Node f
// coordinates. Node f learns that round 2 is the electorate, and is then cut
// off. Node c is elected, learns of round 2 from node a, and stops it. Then the
// agent of node a ends, and node b connects to node f. Now node f has two of
// the three nodes of round 2, and node c has half of the nodes of round 1. Only
// one of them may begin a world.
TEST(SuccessionTest, TwoElectoratesNeverBeginWorldsBesideEachOther) {
  for (const Takeover takeover : {Takeover::kMajority, Takeover::kAuto}) {
    const int max_nodes = takeover == Takeover::kAuto ? 5 : 4;
    Succession job(SpecOf(2, max_nodes, takeover), "f",
                   {"a", "b", "c", "d", "f"});
    RunRoundOne(job, {"a", "b", "c", "d"}, "f");
    ReplaceNodes(job, {"c", "d"}, {"f"}, "f");
    job.WaitForRound("a", 2);
    ASSERT_EQ(job.report("b").round, 2);
    ASSERT_EQ(job.report("f").round, 2);
    job.Deafen({"a", "b"});
    for (const char* name : {"a", "b", "f"}) job.Send(name);
    ASSERT_EQ(job.report("f").electorate.world.round, 2);
    ASSERT_EQ(job.report("a").electorate.world.round, 1);
    job.Cut({"a", "b", "f"});
    job.Hear({"a", "b"});
    job.StandBy("c", 11);
    job.DeafenWhenElected({"b"});
    job.Connect({"c", "b", "a"}, "c");
    job.Wait(milliseconds(200));
    ASSERT_TRUE(job.coordinates("c"));
    job.Cut({"b"});
    job.Hear({"b"});
    job.Wait(milliseconds(200));
    EXPECT_EQ(job.report("a").phase, NodePhase::kIdle);
    job.Cut({"a"});
    job.Connect({"d"}, "c");
    // Node b has promised the higher epoch of the coordinator on node c. So b's
    // report deposes the coordinator on node f.
    job.Connect({"b"}, "f");
    job.Wait(milliseconds(200));
    job.Connect({"f", "b"}, "f");
    job.Wait(seconds(40));
    EXPECT_THAT(job.split(), IsEmpty());
  }
}

// Nodes a, b, e and f run round 2 after nodes a to d have run round 1. The next
// coordinator orders the stop of round 2, but the order reaches only nodes c
// and d, and then this coordinator is lost. Node d is elected with the vote of
// node a, which is cut off at once. The coordinator on d must not begin a world
// while round 2 may still run on the nodes that are cut off.
TEST(SuccessionTest, AVoidRoundThatRunsElsewhereIsAwaited) {
  Succession job(SpecOf(2, 4, Takeover::kMajority), "z",
                 {"a", "b", "c", "d", "e", "f"});
  RunRoundOne(job, {"a", "b", "c", "d"}, "z");
  ReplaceNodes(job, {"c", "d"}, {"e", "f"}, "z");
  job.WaitForRound("a", 2);
  for (const char* name : {"b", "e", "f"}) {
    ASSERT_EQ(job.report(name).round, 2);
  }
  job.Cut({"a", "b", "e", "f"});
  job.End("z");
  job.StandBy("c", 11);
  job.DeafenWhenElected({"a", "e", "f"});
  job.Connect({"c", "d", "f", "e", "a"}, "c");
  job.Wait(milliseconds(500));
  ASSERT_TRUE(job.coordinates("c"));
  job.Cut({"a", "e", "f"});
  job.Hear({"a", "e", "f"});
  job.Wait(seconds(10));
  job.Cut({"c", "d"});
  job.End("c");
  job.StandBy("d", 12);
  job.DeafenWhenElected({"a"});
  job.Connect({"c", "d", "a"}, "d");
  job.Wait(milliseconds(500));
  ASSERT_TRUE(job.coordinates("d"));
  job.Cut({"a"});
  job.Wait(seconds(40));
  EXPECT_THAT(job.split(), IsEmpty());
}

// Nodes b and c know that they are electors of round 1, but have not begun it.
// They elect node b, and then node c is cut off. Nodes a and c elect node a.
// Only one of the two coordinators may begin a world.
TEST(SuccessionTest, ElectorsWithoutAPlaceElect) {
  Succession job(SpecOf(2, 4, Takeover::kMajority), "a", {"a", "b", "c", "g"});
  job.Connect({"a", "b", "c"}, "a");
  job.Deafen({"b", "c"});
  job.WaitForRound("a", 1);
  job.Cut({"b", "c"});
  job.Wait(seconds(5));
  job.Hear({"b", "c"});
  job.Connect({"b", "c"}, "a");
  job.Cut({"a", "b", "c"});
  ASSERT_EQ(job.report("b").electorate.rank, 1);
  ASSERT_FALSE(job.report("b").place.has_value());
  job.StandBy("b", 11);
  job.DeafenWhenElected({"c"});
  job.Connect({"b", "c"}, "b");
  job.Wait(milliseconds(200));
  ASSERT_TRUE(job.coordinates("b"));
  job.Cut({"c"});
  job.Hear({"c"});
  job.Connect({"g"}, "b");
  job.Wait(seconds(1));
  job.StandBy("a", 12);
  job.Connect({"a", "c"}, "a");
  job.Wait(seconds(30));
  EXPECT_THAT(job.split(), IsEmpty());
}

// Lets nodes p, q, x and r run round 2 after nodes a, b, p and q have run round
// 1. Only node x learns that round 2 is the electorate. All four are cut off,
// and the process z, which has coordinated, ends.
void RunRoundTwoKnownToX(Succession& job) {
  RunRoundOne(job, {"a", "b", "p", "q"}, "z");
  ReplaceNodes(job, {"a", "b"}, {"x", "r"}, "z");
  job.WaitForRound("p", 2);
  for (const char* name : {"q", "x", "r"}) {
    ASSERT_EQ(job.report(name).round, 2);
  }
  job.Deafen({"p", "q", "r"});
  for (const char* name : {"p", "q", "r", "x"}) job.Send(name);
  ASSERT_EQ(job.report("x").electorate.world.round, 2);
  ASSERT_EQ(job.report("p").electorate.world.round, 1);
  job.Cut({"p", "q", "r", "x"});
  job.Hear({"p", "q", "r"});
  job.End("z");
}

// The job has takeover=auto and six nodes. Nodes p, q, x and r run round 2.
// Only node x learns that they are the electorate. The agent of node r is
// started again. Node a is elected without node x, and gives round 2 up,
// because five of the six nodes are connected to node a. Before nodes p and q
// learn that round 2 was given up, they are cut off from node a, and elect node
// x. Only one of the two coordinators may begin a world.
TEST(SuccessionTest, NodesThatHaveNotHeardOfTheElectorateMayBeElsewhere) {
  Succession job(SpecOf(3, 6, Takeover::kAuto), "z",
                 {"a", "b", "p", "q", "x", "r"});
  RunRoundTwoKnownToX(job);
  for (const char* name : {"a", "b", "p", "q", "x"}) {
    job.agent(name).report.phase = NodePhase::kIdle;
  }
  job.Restart("r");
  Gather(job, {"a", "b", "p", "q", "r"}, "a");
  job.Wait(milliseconds(4900));
  ASSERT_TRUE(job.coordinates("a"));
  job.Deafen({"p", "q"});
  job.Wait(milliseconds(200));
  job.Cut({"p", "q"});
  job.Hear({"p", "q"});
  job.StandBy("x", 12);
  job.Connect({"x", "p", "q"}, "x");
  job.Wait(seconds(40));
  EXPECT_THAT(job.split(), IsEmpty());
}

// The job has takeover=auto and at most six nodes at any time. Nodes p, q, x
// and r run round 2, and only node x learns that they are the electorate. Nodes
// a, b, p, q and r elect node a. Then nodes p, q and r are cut off from node a,
// and nodes n1, n2 and n3 take the place of node r, one after the other. Nodes
// n1 and n2 have ended, so node a must not count them as nodes that are
// connected to it. Nodes p, q and x elect node x. Only one of the two
// coordinators may begin a world.
TEST(SuccessionTest, NodesThatHaveEndedDoNotLeaveFewElsewhere) {
  for (const Duration pause :
       {Duration(milliseconds(150)), Duration(seconds(8))}) {
    JobSpec spec = SpecOf(3, 6, Takeover::kAuto);
    spec.rejoin_timeout = seconds(300);
    Succession job(spec, "z", {"a", "b", "p", "q", "x", "r"});
    RunRoundTwoKnownToX(job);
    for (const char* name : {"a", "b", "p", "q", "r", "x"}) {
      job.agent(name).report.phase = NodePhase::kIdle;
    }
    job.StandBy("a", 11);
    job.DeafenWhenElected({"p", "q", "r"});
    job.Connect({"a", "b", "p", "q", "r"}, "a");
    job.Wait(milliseconds(300));
    ASSERT_TRUE(job.coordinates("a"));
    job.Cut({"p", "q", "r"});
    job.Hear({"p", "q", "r"});
    for (const char* name : {"n1", "n2", "n3"}) {
      job.Restart(name);
      job.Connect({name}, "a");
      job.Wait(milliseconds(150));
      if (name != std::string("n3")) job.Cut({name});
      job.Wait(pause);
    }
    job.Wait(seconds(20));
    job.StandBy("x", 12);
    job.Connect({"x", "p", "q"}, "x");
    job.Wait(seconds(40));
    EXPECT_THAT(job.split(), IsEmpty());
  }
}

// Half of the nodes of round 2 are new. Its coordinator is lost before they
// learn of that round.
TEST(SuccessionTest, ARoundThatItsNewNodesHaveNotLearnedOfDelaysNoOther) {
  Succession job(SpecOf(2, 4, Takeover::kMajority), "z",
                 {"a", "b", "c", "d", "e", "f"});
  RunRoundOne(job, {"a", "b", "c", "d"}, "z");
  ReplaceNodes(job, {"c", "d"}, {"e", "f"}, "z");
  job.Deafen({"e", "f"});
  job.WaitForRound("b", 2);
  ASSERT_EQ(job.report("a").round, 2);
  ASSERT_EQ(job.report("e").round, 0);
  job.Cut({"a", "b", "e", "f"});
  job.Hear({"e", "f"});
  job.End("z");
  Gather(job, {"a", "b", "c", "d", "e", "f"}, "c");
  job.Wait(seconds(20));
  EXPECT_EQ(job.report("a").round, 3);
  EXPECT_EQ(job.report("a").phase, NodePhase::kRunning);
  EXPECT_THAT(job.split(), IsEmpty());
}

// Only node a has begun round 2 when the coordinator is lost. The second
// coordinator, on node c, tells nodes b, c and d its higher epoch, so that
// round 2 is void. Then the second coordinator is lost, too, and all nodes
// connect to node d.
TEST(SuccessionTest, AVoidRoundThatNeverBeganDelaysNoOther) {
  JobSpec spec = SpecOf(2, 4, Takeover::kMajority);
  spec.wait_for_replacement = seconds(6);
  Succession job(spec, "z", {"a", "b", "c", "d", "e", "f"});
  RunRoundOne(job, {"a", "b", "c", "d"}, "z");
  ReplaceNodes(job, {"c", "d"}, {"e", "f"}, "z");
  job.Deafen({"b", "e", "f"});
  job.Wait(seconds(1));
  job.agent("b").report.phase = NodePhase::kIdle;
  job.WaitForRound("a", 2);
  ASSERT_EQ(job.report("b").round, 1);
  job.Cut({"a", "b", "e", "f"});
  job.Hear({"b", "e", "f"});
  job.End("z");
  Gather(job, {"b", "c", "d"}, "c");
  job.Wait(seconds(1));
  ASSERT_GT(job.report("d").electorate.epoch, 7u);
  job.Cut({"b", "c", "d"});
  job.End("c");
  job.StandBy("d", 12);
  job.Connect({"a", "b", "c", "d", "e", "f"}, "d");
  job.Wait(seconds(20));
  EXPECT_EQ(job.report("d").phase, NodePhase::kRunning);
}

// The founder and the agents of all nodes of round 1 are started again. Only
// node s, a spare, still knows that round 1 is the electorate.
TEST(SuccessionTest, AFounderDoesNotAwaitElectorsThatHaveForgotten) {
  Succession job(SpecOf(2, 3, Takeover::kMajority), "z", {"a", "b", "c", "s"});
  RunRoundOne(job, {"a", "b", "c"}, "z");
  job.Connect({"s"}, "z");
  job.Wait(seconds(1));
  job.Cut({"a", "b", "c", "s"});
  job.Found("z", 9);
  for (const char* name : {"a", "b", "c"}) job.Restart(name);
  job.Connect({"s", "a", "b", "c"}, "z");
  job.Wait(seconds(20));
  EXPECT_EQ(job.report("a").phase, NodePhase::kRunning);
}

// Node e joins while all four nodes are there, and gets the place of node d,
// which leaves or dies. Then the agents of nodes a and b are started again, and
// the coordinator is lost. All four nodes that are left are there.
TEST(SuccessionTest, ASpareThatHasGotAPlaceCounts) {
  for (const bool dies : {true, false}) {
    Succession job(SpecOf(2, 4, Takeover::kAuto), "z",
                   {"a", "b", "c", "d", "e"});
    RunRoundOne(job, {"a", "b", "c", "d"}, "z");
    job.Connect({"e"}, "z");
    job.Wait(seconds(1));
    if (!dies) {
      job.agent("d").report.leave = "SIGTERM";
      job.agent("d").report.phase = NodePhase::kIdle;
      job.Send("d");
      job.Wait(seconds(1));
    }
    job.EndAgent("d");
    job.WaitForRound("e", 2);
    job.Wait(seconds(2));
    job.End("z");
    for (const char* name : {"a", "b"}) {
      job.EndAgent(name);
      job.Restart(name);
    }
    Gather(job, {"c", "e", "a", "b"}, "c");
    job.Wait(seconds(50));
    EXPECT_EQ(job.report("a").phase, NodePhase::kRunning) << dies;
  }
}

// The founder is lost while the first round begins: only node a has learned of
// it. The other nodes have met the founder, and node a's report lists them.
TEST(SuccessionTest, NodesThatHaveNotLearnedOfTheFirstRoundElect) {
  for (const Takeover takeover : {Takeover::kMajority, Takeover::kAuto}) {
    Succession job(SpecOf(2, 6, takeover), "z", {"a", "b", "c", "d"});
    job.Connect({"a", "b", "c", "d"}, "z");
    job.Wait(seconds(1));
    job.Deafen({"b", "c", "d"});
    job.WaitForRound("a", 1);
    ASSERT_EQ(job.report("a").round, 1);
    job.Cut({"a", "b", "c", "d"});
    job.Hear({"b", "c", "d"});
    job.End("z");
    Gather(job, {"b", "c", "a"}, "b");
    job.Wait(seconds(20));
    EXPECT_EQ(job.report("b").phase, NodePhase::kRunning);
  }
}

// Node c waits for a place in a job that has room for it. Then node a is lost,
// which coordinates the job, and is started again. All three nodes are there.
TEST(SuccessionTest, ANodeThatHasWaitedForAPlaceCounts) {
  JobSpec spec = SpecOf(1, 3, Takeover::kAuto);
  spec.scale_up = ScaleUp::kNever;
  Succession job(spec, "a", {"a", "b", "c"});
  RunRoundOne(job, {"a", "b"}, "a");
  job.Connect({"c"}, "a");
  job.Wait(seconds(1));
  ASSERT_EQ(job.report("c").round, 0);
  job.End("a");
  job.EndAgent("a");
  job.Restart("a");
  Gather(job, {"b", "c", "a"}, "b");
  job.Wait(seconds(20));
  EXPECT_EQ(job.report("c").phase, NodePhase::kRunning);
}

// Only node z, a spare, knows that round 2 has begun on all of its nodes.
TEST(SuccessionTest, ARoundThatASpareKnowsToHaveBegunGoesOn) {
  Succession job(SpecOf(2, 3, Takeover::kAuto), "y", {"a", "b", "c", "z"});
  RunRoundOne(job, {"a", "b", "c", "z"}, "y");
  job.agent("a").report.failures = {ExitedWith(0, 3)};
  job.Send("a");
  job.WaitForRound("a", 2);
  job.agent("a").report.failures.clear();
  job.Deafen({"a", "b", "c"});
  for (const char* name : {"a", "b", "c", "z"}) job.Send(name);
  job.Cut({"a", "b", "c", "z"});
  job.Hear({"a", "b", "c"});
  ASSERT_EQ(job.report("a").electorate.world.round, 1);
  ASSERT_EQ(job.report("z").electorate.world.round, 2);
  job.End("y");
  Gather(job, {"z", "a", "b"}, "b");
  job.Wait(seconds(1));
  EXPECT_EQ(job.report("a").phase, NodePhase::kRunning);
}

// Nodes a, b and x succeed in round 2 and are cut off before node y has
// begun it. They elect c. The agent of a is started again, and comes to z when
// y begins.
TEST(SuccessionTest, ARestartedAgentIsNoElectorOfAWorldItWasNotIn) {
  Succession job(SpecOf(2, 4, Takeover::kMajority), "z",
                 {"a", "b", "c", "d", "x", "y"});
  RunRoundOne(job, {"a", "b", "c", "d"}, "z");
  ReplaceNodes(job, {"c", "d"}, {"x", "y"}, "z");
  job.Deafen({"y"});
  job.WaitForRound("a", 2);
  for (const char* name : {"a", "b", "x"}) {
    ASSERT_EQ(job.report(name).round, 2) << name;
  }
  ASSERT_EQ(job.report("y").round, 0);
  for (const char* name : {"a", "b", "x"}) {
    job.Send(name);
    job.agent(name).report.phase = NodePhase::kSucceeded;
    job.Send(name);
  }
  job.Cut({"a", "b", "x"});
  Gather(job, {"c", "d", "a", "b", "x"}, "c");
  job.Wait(seconds(8));
  ASSERT_TRUE(job.coordinates("c"));
  ASSERT_EQ(job.report("a").round, job.report("c").round);
  ASSERT_EQ(job.report("a").phase, NodePhase::kRunning);
  job.EndAgent("a");
  job.Restart("a");
  job.Connect({"a"}, "z");
  job.Wait(seconds(8));
  for (const char* name : {"b", "c", "d", "x"}) {
    ASSERT_EQ(job.report(name).phase, NodePhase::kRunning) << name;
  }
  job.Hear({"y"});
  job.Wait(seconds(2));
  EXPECT_EQ(job.report("y").round, 2);
  EXPECT_EQ(job.report("a").electorate.rank, -1) << "elector of round 2";
  job.agent("y").report.phase = NodePhase::kIdle;
  job.Wait(seconds(30));
  EXPECT_THAT(job.split(), IsEmpty());
}

// Nodes c, d and e are cut off and elect c. Node e is lost for ever. Then
// all of the other four nodes can reach one another, and two coordinators
// without a majority announce themselves to each other.
TEST(SuccessionTest, TheOlderOfTwoCoordinatorsWithoutAMajorityYields) {
  Succession job(SpecOf(4, 5, Takeover::kMajority), "a",
                 {"a", "b", "c", "d", "e"});
  RunRoundOne(job, {"a", "b", "c", "d", "e"}, "a");
  job.Cut({"c", "d", "e"});
  Gather(job, {"c", "d", "e"}, "c");
  job.Wait(seconds(2));
  ASSERT_TRUE(job.coordinates("c"));
  job.EndAgent("e");
  job.Wait(seconds(3));
  for (int i = 0; i < 40; ++i) {
    job.Announce("a", "c");
    job.Announce("c", "a");
    // An agent whose coordinator was deposed tries the other endpoints.
    if (!job.coordinates("a") && job.agent("a").process == "a") {
      job.Connect({"a", "b"}, "c");
    }
    if (!job.coordinates("c") && job.agent("c").process == "c") {
      job.Connect({"c", "d"}, "a");
    }
    job.Wait(seconds(1));
  }
  for (const char* name : {"a", "b", "c", "d"}) {
    EXPECT_EQ(job.report(name).phase, NodePhase::kRunning) << name;
  }
  job.Wait(seconds(60));
  for (const char* name : {"a", "b", "c", "d"}) {
    EXPECT_FALSE(job.agent(name).has_left) << name << ": job timed out";
  }
}

// Nodes n and q connect to the standby on d while round 1 stops on them.
// Their connections are cut, which d does not notice. Coordinator z has
// stopped round 1, begun round 2 with node q, and then round 3 with nodes a, m,
// n and x. Coordinator c makes round 3 void, and is lost. d is elected, and
// continues round 1, with the old reports of n and q. Then q comes to d.
TEST(SuccessionTest, ANodeOfAThirdRoundDoesNotShowThatAnotherRoundNeverBegan) {
  JobSpec spec = SpecOf(2, 6, Takeover::kMajority);
  spec.scale_up = ScaleUp::kNever;
  Succession job(spec, "z", {"a", "b", "d", "m", "n", "q", "x", "c"});
  const Names first = {"a", "b", "d", "m", "n", "q"};
  RunRoundOne(job, first, "z");
  // Nodes n and q are connected to the standby on d for a moment.
  job.StandBy("d", 12);
  job.Connect({"n", "q"}, "d");
  job.CutUnnoticed({"n", "q"});
  job.Connect({"n", "q", "x"}, "z");
  // Nodes b and d are cut off, round 2 runs on a, m, n, q and x.
  job.Cut({"b", "d"});
  job.WaitForRound("q", 2);
  ASSERT_EQ(job.report("q").round, 2);
  job.Cut({"q"});
  job.agent("q").report.phase = NodePhase::kIdle;
  job.WaitForRound("a", 3);
  for (const char* name : {"a", "m", "n", "x"}) {
    ASSERT_EQ(job.report(name).round, 3) << name;
  }
  job.Cut({"a", "m", "n", "x"});
  job.End("z");
  // Node c is elected, and only node b learns its electorate.
  job.StandBy("c", 11);
  job.DeafenWhenElected({"a", "m", "x", "d"});
  job.Connect({"b", "d", "m", "x", "a"}, "c");
  job.Wait(milliseconds(300));
  ASSERT_TRUE(job.coordinates("c"));
  job.Cut({"a", "b", "d", "m", "x"});
  job.Hear({"a", "d", "m", "x"});
  job.End("c");
  ASSERT_EQ(job.report("a").phase, NodePhase::kRunning);
  ASSERT_GT(job.report("b").electorate.epoch, 7u);
  job.DeafenWhenElected({"a", "m"});
  job.Connect({"d", "b", "a", "m"}, "d");
  job.Wait(milliseconds(300));
  ASSERT_TRUE(job.coordinates("d"));
  job.Cut({"a", "m"});
  job.Wait(seconds(1));
  job.Connect({"q"}, "d");
  job.Wait(seconds(40));
  EXPECT_THAT(job.split(), IsEmpty());
}

// Only node a knows that round 2 is the electorate. Coordinator c tells
// node d that round 1 is the electorate, and is lost.
TEST(SuccessionTest, AnElectorThatKnowsANewerElectorateVotes) {
  Succession job(SpecOf(2, 4, Takeover::kMajority), "z",
                 {"a", "b", "c", "d", "y"});
  RunRoundOne(job, {"a", "b", "c", "d"}, "z");
  ReplaceNodes(job, {"d"}, {"y"}, "z");
  job.WaitForRound("a", 2);
  for (const char* name : {"b", "c", "y"}) {
    ASSERT_EQ(job.report(name).round, 2) << name;
  }
  job.Deafen({"b", "c", "y"});
  for (const char* name : {"a", "b", "c", "y"}) job.Send(name);
  job.Send("a");
  ASSERT_EQ(job.report("a").electorate.world.round, 2);
  job.Cut({"a", "b", "c", "y"});
  job.Hear({"b", "c", "y"});
  ASSERT_EQ(job.report("b").electorate.world.round, 1);
  job.End("z");
  job.StandBy("c", 11);
  job.DeafenWhenElected({"b", "y"});
  job.Connect({"c", "d", "b", "y"}, "c");
  job.Wait(milliseconds(500));
  ASSERT_TRUE(job.coordinates("c"));
  ASSERT_EQ(job.report("d").electorate.world.round, 1);
  ASSERT_GT(job.report("d").electorate.epoch, 7u);
  job.Cut({"b", "d", "y"});
  job.Hear({"b", "y"});
  job.End("c");
  job.EndAgent("c");
  // 3 of the 4 nodes of round 1 are alive, and 3 of the 4 of round 2.
  for (const char* process : {"d", "b", "a", "y"}) {
    job.StandBy(process, 12);
    job.Connect({"a", "b", "d", "y"}, process);
    job.Wait(seconds(20));
    if (job.coordinates(process)) break;
  }
  EXPECT_EQ(job.report("a").phase, NodePhase::kRunning);
  EXPECT_EQ(job.report("d").phase, NodePhase::kRunning);
  EXPECT_GT(job.report("d").round, 2);
}

}  // namespace
}  // namespace muster::rendezvous
