// Tests of a job whose coordinator runs in the process of one of its nodes, so
// that other nodes can take over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rendezvous/job/constituency.h"
#include "rendezvous/job/job_fixture.h"
#include "rendezvous/job/job_record.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// Returns a job of nodes a to c (a to d if `max_nodes` is 4 or more) that runs
// round 1. The coordinator runs in the process of node a.
JobFixture RunningJob(int min_nodes, int max_nodes) {
  JobFixture job = JobFixture::HostedBy("a", QuickSpec(min_nodes, max_nodes));
  std::vector<std::string> names = {"a", "b", "c", "d"};
  names.resize(std::min(max_nodes, 4));
  job.StartAll(names);
  return job;
}

// Returns a job of `names`, fewer nodes than max_nodes, that runs round 1. The
// coordinator runs in the process of node a.
JobFixture AfterLastCall(const JobSpec& spec,
                         const std::vector<std::string>& names) {
  JobFixture job = JobFixture::HostedBy("a", spec);
  for (const std::string& name : names) job.Join(name);
  job.Wait(spec.last_call);
  for (const std::string& name : names) job.Runs(name);
  return job;
}

// Returns the job of RunningJob after node b has taken over as the coordinator.
// The nodes `come` have come to it, and round 1 goes on.
JobFixture AdoptedJob(int min_nodes, int max_nodes,
                      const std::vector<std::string>& come) {
  JobFixture job = RunningJob(min_nodes, max_nodes);
  job.TakeOver("b");
  job.ReconnectAll(come);
  EXPECT_THAT(job.Decided("adopt"), HasSubstr("round 1 goes on"));
  return job;
}

// The nodes stop their workers, and report this.
void StopWorkers(JobFixture& job, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    job.Stopping(name);
    job.Idle(name);
  }
}

// The agent begins the round of its directive. The job does not get a report of
// this before the agent connects again.
void BeginsUnseen(JobFixture& job, const std::string& name) {
  Report& report = job.agent(name).report;
  report.place = job.told(name).place;
  report.round = report.place->round;
  report.phase = NodePhase::kRunning;
  report.round_end.reset();
  report.failures.clear();
}

TEST(ElectorsTest, ARankHasOneElector) {
  Electors electors{.nodes = 2};
  EXPECT_TRUE(electors.Add("a", {.rank = 0}));
  EXPECT_FALSE(electors.Add("b", {.rank = 0}));
  EXPECT_FALSE(electors.Add("b", {.rank = 2}));
  EXPECT_FALSE(electors.Add("b", {.rank = -1}));
  EXPECT_FALSE(electors.Add("a", {.rank = 1})) << "a node has one rank";
  EXPECT_TRUE(electors.Add("c", {.rank = 1}));
  EXPECT_EQ(electors.known.size(), 2u);
  EXPECT_EQ(electors.known["a"].rank, 0);
  EXPECT_EQ(electors.known["c"].rank, 1);
}

TEST(ElectorsTest, ThoseThatHaveLeftCountUnlessTheyMayActElsewhere) {
  const Electors electors{.nodes = 5, .gone = 2};
  JobSpec spec = QuickSpec(3, 6);
  for (const Takeover takeover : {Takeover::kAuto, Takeover::kMajority}) {
    spec.takeover = takeover;
    EXPECT_FALSE(electors.AreHalf(0, spec));
    EXPECT_EQ(electors.AreHalf(1, spec), takeover == Takeover::kMajority);
    EXPECT_TRUE(electors.AreHalf(2, spec));
    EXPECT_TRUE(electors.AreHalf(3, spec));
  }
  spec.takeover = Takeover::kAuto;
  spec.min_nodes = 4;
  EXPECT_TRUE(electors.AreHalf(1, spec)) << "two worlds can never run at once";
}

// The highest number of nodes that may be connected to another coordinator:
// less than half of the smallest possible world, which has min_nodes nodes. If
// two worlds can never run at once: less than half of max_nodes.
TEST(MaxElsewhereTest, IsLessThanHalfOfAWorldUnlessTwoCanNeverRun) {
  EXPECT_EQ(MaxElsewhere(QuickSpec(1, 4)), 0);
  EXPECT_EQ(MaxElsewhere(QuickSpec(2, 4)), 0);
  EXPECT_EQ(MaxElsewhere(QuickSpec(3, 8)), 1);
  EXPECT_EQ(MaxElsewhere(QuickSpec(4, 8)), 1);
  EXPECT_EQ(MaxElsewhere(QuickSpec(5, 10)), 2);
  EXPECT_EQ(MaxElsewhere(QuickSpec(5, 8)), 3) << "fewer than are here";
  EXPECT_EQ(MaxElsewhere(QuickSpec(3, 4)), 1);
  EXPECT_EQ(MaxElsewhere(QuickSpec(2, 3)), 1);
  EXPECT_EQ(MaxElsewhere(QuickSpec(2, 2)), 0);
}

TEST(JobTakeoverTest, NodesAreToldWhoTakesOverAndWhoElects) {
  JobFixture job = JobFixture::HostedBy("b", QuickSpec(3, 3));
  job.StartAll({"a", "b", "c"});
  for (const char* name : {"a", "b", "c"}) {
    const Directive& told = job.told(name);
    EXPECT_THAT(told.standbys, ElementsAre("a", "c")) << name;
    EXPECT_EQ(told.host_rank, 1) << name;
    EXPECT_EQ(told.place.epoch, 7u);
    EXPECT_EQ(told.electorate.nodes, 3);
    EXPECT_EQ(told.electorate.rank, told.place.group_rank);
    const WorldId world = {.epoch = 7, .round = 1};
    EXPECT_EQ(told.electorate.world, world);
  }
}

TEST(JobTakeoverTest, AnElectorateOfFewNodesIsListed) {
  for (const int count : {kMaxListedElectors, kMaxListedElectors + 1}) {
    JobFixture job = JobFixture::HostedBy("n1", QuickSpec(count, count));
    std::vector<std::string> names;
    for (int i = 1; i <= count; ++i) names.push_back(absl::StrCat("n", i));
    job.StartAll(names);
    const std::vector<std::string>& members = job.told("n1").electorate.members;
    if (count > kMaxListedElectors) {
      EXPECT_THAT(members, IsEmpty());
    } else {
      EXPECT_EQ(members, job.World());
    }
  }
}

TEST(JobTakeoverTest, AnElectorateThatIsKeptStaysListed) {
  JobFixture job = RunningJob(2, 4);
  job.TakeOver("b");
  job.Reconnect("b");
  job.Wait(seconds(10));
  EXPECT_EQ(job.told("b").electorate.nodes, 4);
  EXPECT_THAT(job.told("b").electorate.members,
              ElementsAre("a", "b", "c", "d"));
}

// The nodes of the job's first world are the electorate as soon as it forms,
// because there is no older world whose nodes could elect. The nodes of the
// second world become the electorate only once it has begun on all of them.
TEST(JobTakeoverTest, TheFirstWorldElectsFromTheMomentItForms) {
  JobFixture job = JobFixture::HostedBy("a", QuickSpec(3, 3));
  for (const char* name : {"a", "b", "c"}) job.Join(name);
  EXPECT_EQ(job.told("a").electorate.nodes, 3);
  EXPECT_EQ(job.told("a").electorate.rank, 0);
  EXPECT_FALSE(job.job().MayAnnounce());
  job.Runs("a");
  job.Fails("a", ExitedWith(0, 1));
  job.AllStop();
  for (const char* name : {"b", "c"}) job.Idle(name);
  job.Wait(seconds(2));
  ASSERT_EQ(job.round(), 2);
  for (const char* name : {"a", "b"}) job.Runs(name);
  EXPECT_EQ(job.told("a").electorate.world.round, 1);
  EXPECT_FALSE(job.job().MayAnnounce());
  job.Runs("c");
  EXPECT_EQ(job.told("a").electorate.world.round, 2);
  EXPECT_TRUE(job.job().MayAnnounce());
}

TEST(JobTakeoverTest, ACoordinatorMayAnnounceOnceItsFirstWorldHasBegun) {
  JobFixture job = JobFixture::HostedBy("a", QuickSpec(2, 2));
  for (const char* name : {"a", "b"}) job.Join(name);
  job.Runs("a");
  EXPECT_FALSE(job.job().MayAnnounce());
  job.Runs("b");
  EXPECT_TRUE(job.job().MayAnnounce());
}

TEST(JobTakeoverTest, AwaitsNodesIfTooFewStayToBeginARound) {
  JobFixture job = JobFixture::HostedBy("a", QuickSpec(2, 2));
  job.Join("a");
  EXPECT_TRUE(job.job().AwaitsNodes());
  job.Join("b");
  EXPECT_FALSE(job.job().AwaitsNodes()) << "the round runs";
  job.Runs("a");
  job.Runs("b");
  job.agent("b").report.leave = "SIGTERM";
  job.Report("b");
  EXPECT_FALSE(job.job().AwaitsNodes()) << "the round is being stopped";
  job.Idle("a");
  job.Idle("b");
  EXPECT_EQ(job.job().phase(), JobPhase::kGathering);
  EXPECT_TRUE(job.job().AwaitsNodes());
}

TEST(JobTakeoverTest, BeforeTheFirstRoundTheFirstNodesAreTheStandbys) {
  JobFixture job = JobFixture::HostedBy("a", QuickSpec(6, 6));
  for (const char* name : {"a", "e", "d"}) job.Join(name);
  EXPECT_THAT(job.told("d").standbys, ElementsAre("e", "d"));
  for (const char* name : {"c", "b"}) job.Join(name);
  EXPECT_THAT(job.told("b").standbys, ElementsAre("e", "d", "c"));
  job.Lose("d");
  job.Report("b");
  job.Report("a");
  EXPECT_THAT(job.told("a").standbys, ElementsAre("e", "c", "b"));
  job.agent("c").report.leave = "SIGTERM";
  job.Report("c");
  job.Report("a");
  EXPECT_THAT(job.told("a").standbys, ElementsAre("e", "b"));
}

// An elected coordinator that gives up the earlier round has no world. Until
// its first round begins, it names as standbys the connected nodes whose
// processes can take over.
TEST(JobTakeoverTest, ACoordinatorThatGivesUpARoundNamesStandbys) {
  JobFixture job = RunningJob(2, 4);
  job.TakeOver("b");
  job.ReconnectAll({"b", "c"});
  job.Wait(seconds(6));
  ASSERT_THAT(job.Decided("adopt"), HasSubstr("is given up"));
  EXPECT_THAT(job.told("b").standbys, ElementsAre("c"));
  EXPECT_THAT(job.told("c").standbys, ElementsAre("c"));
}

TEST(JobTakeoverTest, AJobOfADaemonNamesNoStandbys) {
  JobFixture job(QuickSpec(3, 3));
  for (const char* name : {"a", "b", "c"}) {
    job.Create(name).report.standby_endpoint = name;
  }
  job.StartAll({"a", "b", "c"});
  EXPECT_THAT(job.told("a").standbys, IsEmpty());
  EXPECT_EQ(job.told("a").electorate.nodes, 0);
}

// Returns a job whose electorate is round 1 with the nodes a to d. Round 2 has
// nodes a, b, x and y. The coordinator is lost before any node has reported the
// start of round 2. Then the process of node c coordinates, and nodes c and d
// connect to it. `began`: the nodes that have begun round 2.
JobFixture AfterALaterRound(const std::vector<std::string>& began,
                            Takeover takeover = Takeover::kMajority) {
  JobSpec spec = QuickSpec(2, 4);
  spec.takeover = takeover;
  JobFixture job = AfterLastCall(spec, {"a", "b", "c", "d"});
  job.BreakStream("c");
  job.Lose("d");
  for (const char* name : {"x", "y"}) job.Join(name);
  StopWorkers(job, {"a", "b"});
  job.Wait(seconds(10));
  EXPECT_THAT(job.World(), UnorderedElementsAre("a", "b", "x", "y"));
  for (const std::string& name : began) BeginsUnseen(job, name);
  job.TakeOver("c");
  for (const char* name : {"c", "d"}) {
    job.Reconnect(name);
    StopWorkers(job, {name});
  }
  return job;
}

// Round 2 may run on all of its nodes, which may then be the electorate for
// another coordinator. So this coordinator begins no round before a majority of
// the nodes of round 2 have stopped it and have received a directive from here.
TEST(JobTakeoverTest, ARoundThatMayHaveBegunDoesNotElectButMustStop) {
  JobFixture job = AfterALaterRound({"a", "b", "x", "y"});
  job.Reconnect("b");
  job.Wait(seconds(6));
  ASSERT_THAT(job.Decided("adopt"), HasSubstr("round 2 is given up"));
  EXPECT_EQ(job.told("b").electorate.world.round, 1);
  EXPECT_THAT(job.told("b").electorate.members,
              ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(job.kind("b"), DirectiveKind::kStop);
  job.Idle("b");
  job.Reconnect("x");
  job.Wait(seconds(5));
  EXPECT_THAT(job.status().reason,
              HasSubstr("round 2 may run elsewhere: 1 of its nodes came and "
                        "stopped their workers, and 3 must"));
  job.Idle("x");
  job.agent("y").deaf = true;
  job.agent("y").report.phase = NodePhase::kIdle;
  job.Reconnect("y");
  job.Wait(seconds(5));
  EXPECT_EQ(job.phase(), JobPhase::kGathering) << "y knows no coordinator";
  job.agent("y").deaf = false;
  job.Wait(seconds(5));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

// The spares s and t are connected, besides nodes b, c and d. Spares run in
// addition to the job's max_nodes (4) nodes. So they do not show that too few
// other nodes are left to run round 2.
TEST(JobTakeoverTest, SparesDoNotShowThatARoundCannotRun) {
  JobFixture job = AfterALaterRound({"a", "b", "x", "y"}, Takeover::kAuto);
  job.Reconnect("b");
  for (const char* name : {"s", "t"}) {
    Report& report = job.Create(name).report;
    report.electorate = job.agent("c").report.electorate;
    report.electorate.rank = -1;
    report.electorate.is_spare = true;
    job.Join(name);
  }
  job.Wait(seconds(6));
  ASSERT_THAT(job.Decided("adopt"), HasSubstr("round 2 is given up"));
  job.Wait(seconds(5));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  EXPECT_THAT(job.status().reason, HasSubstr("round 2 may run elsewhere"));
}

// The first coordinator has ordered round 2. The second one, on node c, has
// told nodes c and d its epoch, and is lost, too. So round 2 is void for the
// third coordinator, on node d. But the nodes of round 2 may still run it.
TEST(JobTakeoverTest, AVoidRoundMayRun) {
  for (const bool is_of_another : {true, false}) {
    JobFixture job = AfterALaterRound({"b", "x", "y"});
    if (is_of_another) job.agent("b").report.place->electorate.round = 9;
    job.agent("b").report.place->incarnations.clear();
    job.Reconnect("b");
    job.Wait(seconds(6));
    job.TakeOver("d");
    job.BreakStream("b");
    for (const char* name : {"c", "d"}) job.Reconnect(name);
    job.agent("b").report.electorate = {
        .epoch = 7, .world = {.epoch = 7, .round = 1}, .nodes = 4, .rank = 1};
    job.agent("b").report.phase = NodePhase::kRunning;
    job.Reconnect("b");
    job.Lose("b");
    // Node a belongs to round 2 but does not know it, and obeys no older
    // coordinator any more. So round 2 never begins on all of its nodes. This
    // is not certain if round 2 formed under another electorate
    // (is_of_another), because the incarnations of its nodes are not known.
    job.agent("a").report.round = 1;
    job.agent("a").report.place = job.agent("c").report.place;
    job.agent("a").report.place->group_rank = 0;
    job.agent("a").report.phase = NodePhase::kIdle;
    job.Reconnect("a");
    job.Wait(seconds(12));
    EXPECT_EQ(job.phase() == JobPhase::kGathering, is_of_another);
    if (!is_of_another) continue;
    EXPECT_THAT(job.status().reason, HasSubstr("round 2 may run elsewhere"));
  }
}

// Node a belongs to round 2, has not begun it, and has promised to obey no
// older coordinator. So round 2 can never run on all of its nodes. This is not
// certain in the other cases: node a has not promised yet; a new node, z,
// connects instead of node a; or round 2 has only one elector, which may be
// node b, and does not list the incarnations of its nodes.
TEST(JobTakeoverTest, ARoundThatAMemberHasNotLearnedOfCannotRun) {
  struct Case {
    const char* node = "a";
    bool promises = true;
    int electors = 2;
    bool is_listed = false;
    bool cannot_run = false;
  };
  for (const Case& one :
       {Case{.cannot_run = true}, Case{.node = "z"}, Case{.promises = false},
        Case{.electors = 1}, Case{.node = "z", .electors = 3},
        Case{.electors = 1, .is_listed = true, .cannot_run = true},
        Case{.promises = false, .electors = 1, .is_listed = true}}) {
    JobFixture job = AfterALaterRound({"b", "x", "y"});
    job.agent("b").report.place->electors = one.electors;
    if (!one.is_listed) job.agent("b").report.place->incarnations.clear();
    job.Reconnect("b");
    job.Wait(seconds(6));
    ASSERT_THAT(job.Decided("adopt"), HasSubstr("round 2 is given up"));
    job.Lose("b");
    job.Wait(seconds(5));
    ASSERT_EQ(job.phase(), JobPhase::kGathering);
    if (one.node == std::string("a")) {
      job.Reconnect("a");
    } else {
      job.Join(one.node);
    }
    if (one.promises) {
      job.Report(one.node);
    } else {
      job.BreakStream(one.node);
    }
    job.Wait(seconds(6));
    EXPECT_EQ(job.phase() == JobPhase::kRunning, one.cannot_run)
        << one.node << one.promises << one.electors << one.is_listed;
  }
}

// The electorate is round 1, with nodes a, b and c. Nodes a and b are a
// majority of it. Of the four nodes of round 2, only node b has stopped its
// workers. Other jobs would wait until more have. But a world has at least 3
// nodes here, and the job at most 5, so two worlds can never run at once. So
// the next round begins.
TEST(JobTakeoverTest, WhereTwoWorldsNeverRunNoEarlierOneIsAwaited) {
  const JobSpec spec = QuickSpec(3, 5);
  JobFixture job = AfterLastCall(spec, {"a", "b", "c"});
  for (const char* name : {"x", "y"}) job.Join(name);
  job.Lose("a");
  job.AllStop();
  job.Wait(seconds(10));
  ASSERT_THAT(job.World(), UnorderedElementsAre("b", "c", "x", "y"));
  BeginsUnseen(job, "b");
  job.TakeOver("a");
  job.Reconnect("b");
  job.Reconnect("a");
  job.Wait(seconds(6));
  ASSERT_THAT(job.Decided("adopt"), HasSubstr("round 2 is given up"));
  StopWorkers(job, {"a", "b"});
  // Node z, a spare, is the third ready node (min_nodes is 3).
  Report& report = job.Create("z").report;
  report.electorate = job.agent("a").report.electorate;
  report.electorate.rank = -1;
  report.electorate.is_spare = true;
  job.Join("z");
  job.Wait(seconds(6));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

TEST(JobTakeoverTest, TheRoundGoesOnIfAllItsNodesCome) {
  JobFixture job = RunningJob(3, 3);
  job.TakeOver("b");
  job.ReconnectAll({"b", "c"});
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_EQ(job.told("c").host_rank, 1);
  EXPECT_EQ(job.told("c").electorate.nodes, 3);
  EXPECT_EQ(job.told("c").electorate.epoch, job.told("c").epoch);
  // Node a, whose process was the previous coordinator, has not reported yet.
  // Node a becomes a standby only after its next report.
  EXPECT_THAT(job.told("c").standbys, ElementsAre("c"));
  job.Wait(milliseconds(1900));
  job.Reconnect("a");
  job.Wait(seconds(30));
  EXPECT_EQ(job.Count("break"), 0);
  EXPECT_EQ(job.round(), 1);
}

TEST(JobTakeoverTest, TheNodeThatHostedTheCoordinatorIsLostAfterTwoSeconds) {
  JobFixture job = RunningJob(2, 3);
  job.TakeOver("b");
  job.ReconnectAll({"b", "c"});
  job.Wait(milliseconds(1900));
  EXPECT_EQ(job.Count("break"), 0);
  job.Wait(milliseconds(200));
  EXPECT_THAT(job.Decided("break"),
              HasSubstr("rank 0 (a) is lost, which coordinated the job"));
  job.AllStop();
  EXPECT_EQ(job.round(), 2);
  EXPECT_THAT(job.World(), UnorderedElementsAre("b", "c"));
  EXPECT_EQ(job.status().restarts_used, 0);
}

// Node a, whose process was the first coordinator, is lost and never reports to
// the elected coordinator. The verdict can name node a because the other nodes
// report its name.
TEST(JobTakeoverTest, TheVerdictNamesTheLostNodeThatHostedTheCoordinator) {
  JobSpec spec = QuickSpec(3, 3);
  spec.rejoin_timeout = seconds(20);
  JobFixture job = JobFixture::HostedBy("a", spec);
  job.StartAll({"a", "b", "c"});
  job.TakeOver("b");
  job.ReconnectAll({"b", "c"});
  job.Wait(seconds(3));
  job.AllStop();
  job.Wait(seconds(21));
  ASSERT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_THAT(job.status().verdict->reason,
              HasSubstr("; absent: a (lost: it coordinated the job)"));
}

TEST(JobTakeoverTest, TheVerdictNamesANodeThatHasNotComeSinceTheTakeover) {
  for (const int count : {kMaxListedElectors, kMaxListedElectors + 1}) {
    JobSpec spec = QuickSpec(count, count);
    spec.rejoin_timeout = seconds(20);
    JobFixture job = JobFixture::HostedBy("n1", spec);
    std::vector<std::string> names;
    for (int i = 1; i <= count; ++i) names.push_back(absl::StrCat("n", i));
    job.StartAll(names);
    // A failure on node n1 breaks round 1. Then n1, which hosts the
    // coordinator, is lost and never reports to the new coordinator. The
    // verdict must name n1 as absent or, in a world of more than
    // kMaxListedElectors nodes, its group rank.
    job.Fails("n1", ExitedWith(0, 1));
    names.erase(names.begin());
    for (const std::string& name : names) job.Idle(name);
    job.TakeOver("n2");
    job.ReconnectAll(names);
    job.Wait(seconds(21));
    ASSERT_EQ(job.phase(), JobPhase::kFinished);
    EXPECT_THAT(job.status().verdict->reason,
                HasSubstr(count > kMaxListedElectors
                              ? "; absent: the node of group rank 0 (it has "
                                "not come to this coordinator)"
                              : "; absent: n1 (it has not come to this "
                                "coordinator)"));
  }
}

TEST(JobTakeoverTest, ItsLossExplainsAFailureAndSpendsNoRestart) {
  JobFixture job = RunningJob(2, 3);
  job.TakeOver("b");
  job.FailsUnreported("b", ExitedWith(2, 3), NodePhase::kIdle);
  job.ReconnectAll({"b", "c"});
  EXPECT_THAT(job.Decided("blame"), HasSubstr("which coordinated the job"));
  EXPECT_EQ(job.status().restarts_used, 0);
  job.AllStop();
  EXPECT_EQ(job.round(), 2);
}

TEST(JobTakeoverTest, NoWorldBeginsWithoutAMajorityOfTheNewest) {
  // Nodes b and c of the three-node world are lost. With the new nodes e and f
  // enough nodes are present, but no majority of the old world. So no world
  // forms.
  JobFixture job = RunningJob(1, 3);
  job.BreakStream("b");
  job.BreakStream("c");
  job.Wait(seconds(3));
  job.AllStop();
  job.Join("e");
  job.Join("f");
  job.Wait(seconds(20));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  EXPECT_FALSE(job.job().MayAnnounce());
  EXPECT_THAT(job.status().reason, HasSubstr("only 1 of its 3 nodes"));
  // Node b returns with a restarted agent. It may have voted for another
  // coordinator, to which node c may be connected, so still no world forms.
  job.Restart("b");
  job.Wait(seconds(5));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Restart("c");
  job.Wait(seconds(5));
  EXPECT_EQ(job.round(), 2) << "no node can be elsewhere";
  EXPECT_EQ(job.World()[0], "a");
}

TEST(JobTakeoverTest, RestartedAgentsElectIfTwoGroupsCannotExist) {
  for (const int min_nodes : {2, 3}) {
    JobFixture job = JobFixture::HostedBy("a", QuickSpec(min_nodes, 5));
    job.StartAll({"a", "b", "c", "d", "e"});
    for (const char* name : {"b", "c", "d", "e"}) job.BreakStream(name);
    job.Wait(seconds(3));
    job.AllStop();
    for (const char* name : {"b", "c"}) job.Restart(name);
    job.Wait(seconds(5));
    EXPECT_EQ(job.round(), min_nodes == 3 ? 2 : 1);
    EXPECT_EQ(job.job().MayAnnounce(), min_nodes == 3);
  }
}

TEST(JobTakeoverTest, RestartedAgentsSufficeIfTooFewNodesAreElsewhere) {
  // The job has six nodes, a to f, and min_nodes is 3. Node a is the
  // coordinator's node. The nodes b to f disconnect. Each case names the nodes
  // that are then restarted and connect again, and whether a world forms. With
  // b, c and d no world forms: e and f may be connected to another coordinator,
  // and two nodes can be the majority of a world of three nodes.
  using Case = std::pair<std::vector<std::string>, bool>;
  for (const auto& [restarted, forms] :
       {Case{{"b", "c", "d"}, false}, Case{{"b", "c", "d", "e"}, true}}) {
    JobFixture job = JobFixture::HostedBy("a", QuickSpec(3, 6));
    job.StartAll({"a", "b", "c", "d", "e", "f"});
    for (const char* name : {"b", "c", "d", "e", "f"}) job.BreakStream(name);
    job.Wait(seconds(3));
    job.AllStop();
    for (const std::string& name : restarted) job.Restart(name);
    // The spares g and h are connected, too, but run in addition to the job's
    // max_nodes nodes. So they must not reduce the number of nodes that may be
    // connected to another coordinator.
    for (const char* name : {"g", "h"}) job.Join(name);
    job.Wait(seconds(5));
    EXPECT_EQ(job.round() > 1, forms) << job.status().reason;
  }
}

TEST(JobTakeoverTest, AMinorityIsGivenUpAfterTheRejoinTimeout) {
  JobSpec spec = QuickSpec(1, 3);
  spec.rejoin_timeout = seconds(20);
  JobFixture job = JobFixture::HostedBy("a", spec);
  job.StartAll({"a", "b", "c"});
  job.BreakStream("b");
  job.Lose("c");
  job.AllStop();
  job.Wait(seconds(21));
  EXPECT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kTimedOut);
  EXPECT_THAT(job.status().verdict->reason, HasSubstr("without half of them"));
}

TEST(JobTakeoverTest, AShrunkWorldIsTheNextElectorate) {
  JobFixture job = RunningJob(1, 3);
  job.Lose("c");
  job.AllStop();
  job.Wait(seconds(1));
  ASSERT_EQ(job.round(), 2);
  job.Runs("a");
  job.Runs("b");
  EXPECT_EQ(job.told("a").electorate.nodes, 2);
  // Lose node b. Node a alone is no majority of the two-node world, but half of
  // it, which suffices for a new round.
  job.Lose("b");
  job.AllStop();
  job.Wait(seconds(5));
  EXPECT_EQ(job.round(), 3);
}

TEST(JobTakeoverTest, ANodeThatHasMetANewerCoordinatorDeposes) {
  JobFixture job = RunningJob(2, 3);
  job.agent("c").report.promised_epoch = 8;
  const int told = job.agent("a").times_told;
  job.Report("c");
  EXPECT_TRUE(job.last_step().deposed);
  EXPECT_THAT(job.last_step().deliveries, IsEmpty());
  EXPECT_EQ(job.agent("a").times_told, told);
}

TEST(JobTakeoverTest, ADeposedCoordinatorGivesNoOrders) {
  JobFixture job = RunningJob(2, 3);
  job.BreakStream("b");
  job.StandStill(milliseconds(550));
  job.agent("c").report.promised_epoch = 8;
  job.Report("c");  // node b's reconnect grace is over
  EXPECT_TRUE(job.last_step().deposed);
  EXPECT_THAT(job.last_step().deliveries, IsEmpty());
}

TEST(JobTakeoverTest, ADaemonGoesAboveTheEpochsOfItsPredecessors) {
  JobFixture job(QuickSpec(2, 2));
  job.Create("a").report.promised_epoch = 100;
  job.Join("a");
  EXPECT_FALSE(job.last_step().deposed);
  EXPECT_EQ(job.told("a").epoch, 101u);
}

TEST(JobTakeoverTest, AnAnnouncementDeposesWithoutAMajorityOnly) {
  JobFixture job = RunningJob(2, 3);
  job.TakeOver("b");
  job.ReconnectAll({"b", "c"});
  const uint64_t epoch = job.job().epoch();
  job.Step(CoordinatorTold{.epoch = epoch + 1});
  EXPECT_FALSE(job.last_step().deposed);
  EXPECT_FALSE(job.job().MayAsk());
  job.Lose("c");
  EXPECT_TRUE(job.job().MayAsk());
  job.Step(CoordinatorTold{.epoch = epoch});
  EXPECT_FALSE(job.last_step().deposed) << "not newer";
  job.Step(CoordinatorTold{.epoch = epoch + 1});
  EXPECT_TRUE(job.last_step().deposed);
}

TEST(JobTakeoverTest, TheEndThatTheNewestCoordinatorToldCounts) {
  JobFixture job = RunningJob(3, 4);
  job.Lose("d");
  ASSERT_EQ(job.kind("a"), DirectiveKind::kStop);
  // Nodes b and c have elected another coordinator, which has ended the round
  // with another cause. Node c reports this cause and the exit code 3. These
  // must replace the cause and the exit code that the first coordinator has
  // named.
  Report& report = job.agent("c").report;
  report.electorate.epoch += kDrawnEpochMask + 1;
  report.round_end = RoundEnd{.cause = StopCause::kBroken,
                              .exit_code = 3,
                              .reason = "rank 4 failed",
                              .epoch = report.electorate.epoch};
  for (const char* name : {"a", "b", "c"}) {
    job.agent(name).report.phase = NodePhase::kIdle;
  }
  job.TakeOver("b");
  job.ReconnectAll({"a", "b", "c"});
  EXPECT_EQ(job.told("a").stop.exit_code, 3);
  job.AllStop();
  ASSERT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.status().verdict->exit_code, 3);
}

TEST(JobTakeoverTest, AnElectedCoordinatorAnnouncesItselfBeforeAWorldHasBegun) {
  JobFixture job = JobFixture::HostedBy("a", QuickSpec(3, 3));
  job.Join("a");
  EXPECT_FALSE(job.job().MayAnnounce()) << "the first coordinator";
  job.TakeOver("a");
  job.ReconnectAll({"a"});
  EXPECT_TRUE(job.job().MayAnnounce());
  EXPECT_FALSE(job.job().MayAsk());
  for (const char* name : {"b", "c"}) job.Join(name);
  job.Wait(seconds(2));
  ASSERT_EQ(job.round(), 1);
  EXPECT_TRUE(job.job().MayAnnounce()) << "its first world forms";
  job.Step(CoordinatorTold{.epoch = job.job().epoch() + 1});
  EXPECT_TRUE(job.last_step().deposed) << "a newer one may know a world";
}

TEST(JobTakeoverTest, APromiseElsewhereDeposesWithoutAMajorityOnly) {
  const CoordinatorTold told = {.epoch = kDrawnEpochMask + 1,
                                .backing = Backing::kPromise};
  JobFixture job = RunningJob(2, 3);
  job.Step(told);
  EXPECT_FALSE(job.last_step().deposed);
  job.Lose("b");
  job.Lose("c");
  job.Step(told);
  EXPECT_TRUE(job.last_step().deposed);
  JobFixture ended = RunningJob(2, 2);
  for (const char* name : {"a", "b"}) ended.Succeeds(name);
  ended.AllStop();
  ASSERT_EQ(ended.phase(), JobPhase::kFinished);
  ended.Step(told);
  EXPECT_FALSE(ended.last_step().deposed) << "its verdict stays";
}

TEST(JobTakeoverTest, ACoordinatorThatBeginsTheJobAgainYieldsToTheElectedOne) {
  JobFixture job = RunningJob(2, 3);
  EXPECT_TRUE(job.job().MayAnnounce());
  job.Step(CoordinatorTold{.epoch = kDrawnEpochMask + 1});
  EXPECT_TRUE(job.last_step().deposed);
}

TEST(JobTakeoverTest, ACoordinatorThatBeginsTheJobAgainYieldsToItsNodes) {
  JobFixture job = RunningJob(2, 3);
  const Place place = job.told("b").place;
  JobFixture again = JobFixture::HostedBy("a", QuickSpec(2, 3));
  again.Join("a");
  EXPECT_TRUE(again.job().MayAsk());
  again.Create("b").report.place = place;
  again.Join("b");
  EXPECT_TRUE(again.last_step().deposed);
}

TEST(JobRecallTest, ANewJobRecallsWhatNoNodeKnows) {
  JobSpec spec = QuickSpec(2, 3);
  spec.max_restarts = 5;
  JobFixture job = JobFixture::HostedBy("a", spec);
  job.StartAll({"a", "b", "c"});
  job.Fails("b", ExitedWith(1, 1));
  job.AllStop();
  ASSERT_EQ(job.round(), 2);
  JobRecord record = job.job().Record();
  record.time.spent_s[0] = 3;
  Job again("job", 9, spec, job.now(), "tag", "a");
  again.Recall(record, seconds(30));
  const JobStatus status = again.Status(job.now());
  EXPECT_EQ(status.restarts_used, 1);
  EXPECT_EQ(status.age, job.status().age + seconds(30));
  EXPECT_EQ(status.round, 0);
  EXPECT_EQ(again.Record().claimed_round, 2);
  EXPECT_EQ(again.Record().failures_in_row, record.failures_in_row);
  EXPECT_GE(again.Record().time.total_s(), 3);
}

TEST(JobRecallTest, TheNextRoundHasANumberThatNoRoundHad) {
  JobFixture job = RunningJob(2, 2);
  const JobRecord record = job.job().Record();
  JobFixture again = JobFixture::HostedBy("a", QuickSpec(2, 2));
  again.Recall(record);
  again.StartAll({"a", "b"});
  EXPECT_EQ(again.round(), record.round + 1);
}

// A restarted coordinator has the record of a job that ran its first round
// (`has_begun`), or was cancelled before its first round. Until the restarted
// coordinator has begun a round, it must name no standbys, because they do not
// know this record.
TEST(JobRecallTest, StandbysMayNotBeginARecordedJob) {
  for (const bool has_begun : {true, false}) {
    JobFixture job = JobFixture::HostedBy("a", QuickSpec(2, 2));
    job.Join("a");
    if (has_begun) {
      job.StartAll({"b"});
    } else {
      job.Step(CancelAsked{"enough"});
    }
    JobFixture again = JobFixture::HostedBy("a", QuickSpec(3, 3));
    again.Recall(job.job().Record());
    for (const char* name : {"a", "b"}) again.Join(name);
    EXPECT_THAT(again.told("b").standbys, IsEmpty()) << has_begun;
  }
}

TEST(JobRecallTest, ARecalledJobYieldsToItsNodes) {
  JobFixture job = RunningJob(2, 3);
  JobFixture again = JobFixture::HostedBy("a", QuickSpec(2, 3));
  again.Recall(job.job().Record());
  again.Join("a");
  again.Create("b").report.place = job.told("b").place;
  again.Join("b");
  EXPECT_TRUE(again.last_step().deposed);
}

// Returns a kRun directive of another coordinator, which is in round `round`
// and has used `restarts` restarts.
Directive RunsElsewhere(int round, int restarts) {
  Directive directive = {.kind = DirectiveKind::kRun};
  directive.place = {.round = round, .reached_step = 30};
  directive.restarts_used = restarts;
  directive.job_age = seconds(500);
  return directive;
}

TEST(LearnFromTest, ALaterRoundReplacesTheRecordedOne) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Step(CancelAsked{"enough"});
  JobRecord record = job.job().Record();
  EXPECT_TRUE(LearnFrom(RunsElsewhere(4, 0), seconds(1), record));
  EXPECT_EQ(record.claimed_round, 4);
  EXPECT_EQ(record.age, seconds(500));
  EXPECT_EQ(record.world.reached_step, 30);
  EXPECT_TRUE(CheckRecord(record).ok()) << CheckRecord(record);
  // Before LearnFrom, the record said that the job ends because of a cancel in
  // round 1. But the other coordinator has begun round 4, so LearnFrom has
  // removed the cancel.
  EXPECT_FALSE(IsEnding(record));
  JobFixture again(QuickSpec(2, 2));
  again.Recall(record);
  again.StartAll({"a", "b"});
  EXPECT_EQ(again.round(), 5);
}

TEST(LearnFromTest, ALaterRoundVoidsAPreemption) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  JobRecord record = job.job().Record();
  record.preemption = PreemptionNotice{};
  ASSERT_TRUE(IsEnding(record));
  EXPECT_TRUE(LearnFrom(RunsElsewhere(2, 0), seconds(1), record));
  EXPECT_FALSE(IsEnding(record));
}

TEST(LearnFromTest, ALaterRoundVoidsAVerdict) {
  JobFixture job(QuickSpec(1, 1));
  job.StartAll({"a"});
  job.Succeeds("a");
  JobRecord record = job.job().Record();
  ASSERT_TRUE(IsEnding(record));
  EXPECT_TRUE(LearnFrom(RunsElsewhere(2, 0), seconds(1), record));
  EXPECT_FALSE(IsEnding(record));
  EXPECT_TRUE(CheckRecord(record).ok()) << CheckRecord(record);
}

TEST(LearnFromTest, ARestartOfTheRecordedRoundOnlyCounts) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  JobRecord record = job.job().Record();
  EXPECT_FALSE(LearnFrom(RunsElsewhere(1, 0), seconds(1), record));
  EXPECT_LT(record.age, seconds(1));
  EXPECT_TRUE(LearnFrom(RunsElsewhere(1, 1), seconds(1), record));
  EXPECT_EQ(record.restarts_used, 1);
  EXPECT_EQ(record.phase, JobPhase::kRunning);
  EXPECT_FALSE(LearnFrom(RunsElsewhere(1, 1000), seconds(1), record));
  EXPECT_EQ(record.restarts_used, record.spec.max_restarts);
}

TEST(LearnFromTest, NoRestartIsGivenBack) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  JobRecord record = job.job().Record();
  EXPECT_TRUE(LearnFrom(RunsElsewhere(2, 1), seconds(1), record));
  EXPECT_TRUE(LearnFrom(RunsElsewhere(3, 0), seconds(1), record));
  EXPECT_EQ(record.restarts_used, 1);
}

TEST(LearnFromTest, OnlyAnOrderToRunHasARoundOfItsOwn) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  JobRecord record = job.job().Record();
  Directive directive = RunsElsewhere(4, 0);
  directive.kind = DirectiveKind::kWait;
  EXPECT_FALSE(LearnFrom(directive, seconds(1), record));
  EXPECT_EQ(record.round, 1);
}

TEST(LearnFromTest, ASpareLearnsTheRoundOfTheElectorate) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  JobRecord record = job.job().Record();
  record.world.reached_step = 20;
  Directive directive = RunsElsewhere(4, 0);
  directive.kind = DirectiveKind::kWait;
  directive.electorate.world.round = 3;
  EXPECT_TRUE(LearnFrom(directive, seconds(1), record));
  EXPECT_EQ(record.claimed_round, 3);
  EXPECT_EQ(record.world.reached_step, 20);
}

TEST(LearnFromTest, NothingOfTheRecordedRoundIsLeft) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  job.Wait(seconds(9));
  job.Fails("b", ExitedWith(2, 3));
  job.AllStop();
  JobRecord record = job.job().Record();
  ASSERT_GT(record.failures_in_row, 0);
  EXPECT_TRUE(LearnFrom(RunsElsewhere(4, 1), seconds(1), record));
  EXPECT_EQ(record.round, 0);
  EXPECT_EQ(record.failures_in_row, 0);
  EXPECT_EQ(record.backoff_left, Duration::zero());
  EXPECT_EQ(record.ran, Duration::zero());
  EXPECT_EQ(record.blamed, "");
  EXPECT_TRUE(CheckRecord(record).ok()) << CheckRecord(record);
}

TEST(LearnFromTest, TheAgeNeverShrinks) {
  JobFixture job(QuickSpec(2, 2));
  job.StartAll({"a", "b"});
  JobRecord record = job.job().Record();
  Directive directive = RunsElsewhere(2, 0);
  directive.job_age = Duration::zero();
  EXPECT_TRUE(LearnFrom(directive, seconds(90), record));
  EXPECT_GE(record.age, seconds(90));
}

class JobRecallVerdictTest : public ::testing::Test {
 protected:
  JobRecallVerdictTest() {
    JobFixture ended = RunningJob(2, 2);
    for (const char* name : {"a", "b"}) ended.Succeeds(name);
    for (const char* name : {"a", "b"}) ended.Report(name);
    record_ = ended.job().Record();
    job_.Recall(record_);
    job_.Join("a");
  }

  JobRecord record_;
  JobFixture job_ = JobFixture::HostedBy("a", QuickSpec(2, 2));
};

TEST_F(JobRecallVerdictTest, TheVerdictIsToldOnceNoCoordinatorIsExpected) {
  EXPECT_THAT(job_.told("a").reason, HasSubstr("this job had ended"));
  job_.Join("b");
  EXPECT_THAT(job_.told("b").standbys, IsEmpty()) << "none knows the verdict";
  for (const char* name : {"a", "b"}) job_.agent(name).silent = true;
  job_.Wait(TimeToLearn(QuickSpec(2, 2)) - milliseconds(1));
  EXPECT_EQ(job_.phase(), JobPhase::kGathering);
  job_.Wait(milliseconds(1));
  EXPECT_EQ(job_.kind("b"), DirectiveKind::kFinished);
  const Verdict& verdict = job_.told("a").verdict;
  EXPECT_EQ(job_.kind("a"), DirectiveKind::kFinished);
  // This coordinator knows the job's end only from the job's record, so it
  // counts every agent that connects as one that took part.
  EXPECT_TRUE(job_.told("a").took_part);
  EXPECT_EQ(record_.verdict->rounds, 1);
  EXPECT_EQ(verdict.outcome, Outcome::kSucceeded);
  EXPECT_EQ(verdict.rounds, record_.round);
  EXPECT_EQ(verdict.lasted, record_.verdict->lasted);
}

TEST_F(JobRecallVerdictTest, ACancellationDoesNotChangeTheVerdict) {
  job_.Step(CancelAsked{"enough"});
  job_.Wait(QuickSpec(2, 2).last_call);
  EXPECT_EQ(job_.told("a").verdict.outcome, Outcome::kSucceeded);
}

// A coordinator is restarted while a round stops because of a failure. No
// majority had seen the verdict, so another coordinator may have ended the
// round with another verdict. The job does not end with the recorded verdict.
TEST(JobRecallTest, TheVerdictOfAStopIsNotRecalled) {
  JobSpec spec = QuickSpec(2, 2);
  spec.max_restarts = 0;
  JobFixture job = JobFixture::HostedBy("a", spec);
  job.StartAll({"a", "b"});
  job.Fails("b", ExitedWith(2, 3));
  ASSERT_EQ(job.phase(), JobPhase::kStopping);
  JobFixture again = JobFixture::HostedBy("a", spec);
  again.Recall(job.job().Record());
  again.StartAll({"a", "b"});
  EXPECT_EQ(again.round(), 2);
}

TEST(JobRecallTest, ACancelIsRecalled) {
  JobFixture job = RunningJob(2, 2);
  job.Step(CancelAsked{"enough"});
  ASSERT_EQ(job.phase(), JobPhase::kStopping);
  JobFixture again = JobFixture::HostedBy("a", QuickSpec(2, 2));
  again.Recall(job.job().Record());
  again.Join("a");
  again.Wait(TimeToLearn(QuickSpec(2, 2)));
  EXPECT_EQ(again.told("a").verdict.outcome, Outcome::kCancelled);
  EXPECT_EQ(again.told("a").verdict.rounds, 1);
}

TEST(JobRecallTest, APreemptedJobIsRunAgain) {
  JobFixture job = RunningJob(2, 2);
  for (const char* name : {"a", "b"}) {
    job.agent(name).report.preemption = PreemptionNotice{};
    job.Report(name);
  }
  for (const char* name : {"a", "b"}) job.Idle(name);
  job.Wait(seconds(20));
  ASSERT_EQ(job.status().verdict->outcome, Outcome::kPreempted);
  JobFixture again = JobFixture::HostedBy("a", QuickSpec(2, 2));
  again.Recall(job.job().Record());
  again.StartAll({"a", "b"});
  EXPECT_EQ(again.round(), 2);
}

TEST(JobRecallTest, AJobWhoseNodesDidNotComeBeginsAgain) {
  JobFixture job = JobFixture::HostedBy("a", QuickSpec(2, 2));
  job.Join("a");
  job.Wait(QuickSpec(2, 2).join_timeout);
  ASSERT_EQ(job.status().verdict->outcome, Outcome::kTimedOut);
  JobFixture again = JobFixture::HostedBy("a", QuickSpec(2, 2));
  again.Recall(job.job().Record());
  again.StartAll({"a", "b"});
  EXPECT_EQ(again.round(), 1);
}

// If the coordinator's process was suspended, announcements of other
// coordinators may still be unread. So the verdict that the coordinator has
// taken from the job's record must not end the job at once.
TEST_F(JobRecallVerdictTest, ASuspensionPostponesTheVerdict) {
  const JobSpec spec = QuickSpec(2, 2);
  job_.StandStill(TimeToLearn(spec) + seconds(1));
  job_.Step(TimePassed());
  EXPECT_EQ(job_.phase(), JobPhase::kGathering);
  job_.Wait(spec.lease());
  EXPECT_EQ(job_.phase(), JobPhase::kFinished);
}

TEST(JobRecallTest, ANodeThatKnowsARoundKnowsMoreThanTheRecord) {
  JobFixture job = RunningJob(3, 3);
  JobFixture ended = RunningJob(3, 3);
  for (const char* name : {"a", "b", "c"}) ended.Succeeds(name);
  for (const char* name : {"a", "b", "c"}) ended.Report(name);
  job.TakeOver("b");
  job.Recall(ended.job().Record());
  job.Reconnect("b");
  job.Reconnect("c");
  ASSERT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_FALSE(job.job().Record().verdict.has_value());
  job.Wait(seconds(10));
  EXPECT_NE(job.phase(), JobPhase::kFinished);
}

TEST_F(JobRecallVerdictTest, ItsRecordHasTheVerdict) {
  const JobRecord record = job_.job().Record();
  EXPECT_TRUE(CheckRecord(record).ok());
  EXPECT_EQ(record.verdict->outcome, Outcome::kSucceeded);
}

TEST(JobTakeoverTest, ANodeThatWaitedForTheFirstRoundDeposesNobody) {
  for (const bool knows_world : {false, true}) {
    JobFixture job = JobFixture::HostedBy("a", QuickSpec(2, 2));
    job.Join("a");
    const uint64_t epoch = job.job().epoch();
    Report& report = job.Create("b").report;
    report.promised_epoch = epoch + 5;
    if (knows_world) report.electorate = {.epoch = epoch + 5, .nodes = 2};
    job.Join("b");
    EXPECT_EQ(job.last_step().deposed, knows_world);
    if (knows_world) continue;
    const uint64_t raised = job.job().epoch();
    EXPECT_EQ(raised, FoundingEpochAbove(epoch + 5, epoch));
    job.Report("a");
    EXPECT_EQ(job.round(), 1);
    EXPECT_EQ(job.told("a").place.epoch, raised);
    EXPECT_EQ(job.told("b").place.epoch, raised);
  }
}

TEST(JobTakeoverTest, FirstCoordinatorsRaiseTheirEpochsToDifferentOnes) {
  std::set<uint64_t> raised;
  for (uint64_t own = 1000; own < 1100; ++own) {
    raised.insert(FoundingEpochAbove(5000, own));
  }
  EXPECT_THAT(raised, SizeIs(100));
  EXPECT_GT(*raised.begin(), 5000u);
  EXPECT_LE(*raised.rbegin(), 5000 + kDrawnEpochMask / 16);
  // kDrawnEpochMask is the highest epoch of a first coordinator, so
  // FoundingEpochAbove must not return more than that.
  for (uint64_t own = 1; own < 100; ++own) {
    EXPECT_EQ(FoundingEpochAbove(kDrawnEpochMask - 1, own), kDrawnEpochMask);
  }
}

TEST(JobTakeoverTest, ItYieldsToAMinorityUnlessItHasAMajority) {
  const CoordinatorTold told = {.epoch = kDrawnEpochMask + 1,
                                .backing = Backing::kMinority};
  JobFixture job = RunningJob(2, 3);
  job.Step(told);
  EXPECT_FALSE(job.last_step().deposed);
  job.Lose("b");
  job.Lose("c");
  job.Step(told);
  EXPECT_TRUE(job.last_step().deposed);
  JobFixture again = JobFixture::HostedBy("a", QuickSpec(2, 3));
  again.Join("a");
  again.Step(told);
  EXPECT_TRUE(again.last_step().deposed);
}

// Before its first world, a coordinator gathers for at least TimeToLearn,
// unless max_nodes nodes are present. In this time it receives announcements of
// other coordinators, and the nodes stop obeying orders from before its
// restart.
TEST(JobTakeoverTest, TheFirstWorldWaitsUnlessItIsFull) {
  JobSpec spec = QuickSpec(2, 3);
  spec.last_call = Duration::zero();
  for (const auto& [interval, wait] :
       {std::pair(milliseconds(100), milliseconds(3000)),
        std::pair(milliseconds(2000), milliseconds(4000))}) {
    spec.keep_alive_interval = interval;
    JobFixture job = JobFixture::HostedBy("a", spec);
    job.Join("a");
    job.Join("b");
    job.Wait(wait - milliseconds(1));
    EXPECT_EQ(job.phase(), JobPhase::kGathering);
    job.Wait(milliseconds(1));
    EXPECT_EQ(job.phase(), JobPhase::kRunning);
  }
  JobFixture full = JobFixture::HostedBy("a", spec);
  for (const char* name : {"a", "b", "c"}) full.Join(name);
  EXPECT_EQ(full.phase(), JobPhase::kRunning);
}

TEST(JobTakeoverTest, WithMajorityAnAgentThatWasStartedAgainDoesNotElect) {
  for (const Takeover takeover : {Takeover::kAuto, Takeover::kMajority}) {
    JobSpec spec = QuickSpec(2, 3);
    spec.takeover = takeover;
    JobFixture job = JobFixture::HostedBy("a", spec);
    job.StartAll({"a", "b", "c"});
    job.BreakStream("b");
    job.Lose("c");
    job.AllStop();
    job.Restart("b");
    job.Wait(seconds(5));
    EXPECT_EQ(job.phase() == JobPhase::kRunning, takeover == Takeover::kAuto);
  }
}

TEST(JobTakeoverTest, AVerdictIsToldToAnElectorThatIsBack) {
  JobFixture job = RunningJob(3, 3);
  for (const char* name : {"b", "c"}) job.agent(name).deaf = true;
  for (const char* name : {"a", "b", "c"}) job.Succeeds(name);
  for (const char* name : {"b", "c"}) {
    job.BreakStream(name);
    job.agent(name).deaf = false;
  }
  job.Wait(seconds(1));
  job.Reconnect("b");
  EXPECT_EQ(job.told("b").kind, DirectiveKind::kStop);
  EXPECT_EQ(job.told("b").stop.exit_code, 0);
  job.Report("b");
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kSucceeded);
}

TEST(JobTakeoverTest, AWorldOfADeposedCoordinatorIsNotAdopted) {
  // Node a reports round 2 of a coordinator with epoch 7. Node c reports round
  // 1, but knows a newer coordinator (epoch 8), which has deposed the one with
  // epoch 7. So round 1 is the round that continues.
  JobFixture job = RunningJob(2, 3);
  job.TakeOver("c");
  Report& stray = job.agent("a").report;
  stray.round = 2;
  stray.place->round = 2;
  stray.place->epoch = 7;
  stray.phase = NodePhase::kIdle;
  job.agent("c").report.electorate.epoch = 8;
  job.ReconnectAll({"a", "c", "b"});
  EXPECT_THAT(job.Decided("adopt"), HasSubstr("round 1 goes on"));
}

TEST(JobTakeoverTest, ASuccessIsKnownToAMajorityBeforeAnyNodeLeaves) {
  JobFixture job = RunningJob(3, 3);
  for (const char* name : {"b", "c"}) job.agent(name).deaf = true;
  for (const char* name : {"a", "b", "c"}) job.Succeeds(name);
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  EXPECT_EQ(job.told("a").kind, DirectiveKind::kStop);
  EXPECT_EQ(job.told("a").stop.exit_code, 0);
  job.Report("a");
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.agent("b").deaf = false;
  job.Report("b");  // b receives the stop order
  job.Report("b");
  EXPECT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kSucceeded);
}

TEST(JobTakeoverTest, HalfOfTheNodesKnowASuccessBeforeAnyNodeLeaves) {
  JobFixture job = RunningJob(4, 4);
  for (const char* name : {"b", "c", "d"}) job.agent(name).deaf = true;
  for (const char* name : {"a", "b", "c", "d"}) job.Succeeds(name);
  job.Report("a");
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.agent("b").deaf = false;
  job.Report("b");
  job.Report("b");
  EXPECT_EQ(job.phase(), JobPhase::kFinished);
}

TEST(JobTakeoverTest, AWorldThatMayHaveBegunElectsAsWell) {
  // All nodes have begun round 1, but the coordinator loses b and c before they
  // report this. Nodes b and c may have elected another coordinator, so node a
  // alone must not begin a new round.
  JobFixture job = JobFixture::HostedBy("a", QuickSpec(1, 3));
  for (const char* name : {"a", "b", "c"}) job.Join(name);
  job.Runs("a");
  job.BreakStream("b");
  job.Lose("c");
  job.AllStop();
  job.Join("d");
  job.Wait(seconds(10));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  EXPECT_TRUE(job.job().MayAsk());
  EXPECT_THAT(job.status().reason, HasSubstr("only 1 of its 3 nodes"));
}

TEST(JobTakeoverTest, AnUnhealthyNodeOfAWorldThatMayHaveBegunIsNotReady) {
  JobSpec spec = QuickSpec(1, 3);
  spec.takeover = Takeover::kMajority;
  JobFixture job = JobFixture::HostedBy("a", spec);
  for (const char* name : {"a", "b", "c"}) job.Join(name);
  job.Runs("a");
  job.BreakStream("b");
  job.Lose("c");
  job.AllStop();
  job.agent("c").report.health = Health::kUnhealthy;
  job.Reconnect("c");
  job.Wait(seconds(10));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  EXPECT_THAT(job.status().reason, HasSubstr("only 1 of its 3 nodes"));
}

TEST(JobTakeoverTest, AWorldThatNeverBeganElectsNobodyBesideAnElectorate) {
  JobFixture job = RunningJob(1, 4);
  for (const char* name : {"e", "f"}) job.Join(name);
  for (const char* name : {"c", "d"}) job.BreakStream(name);
  job.Wait(seconds(1));
  job.AllStop();
  ASSERT_THAT(job.World(), UnorderedElementsAre("a", "b", "e", "f"));
  // Nodes b, e and f are lost. Node a receives the stop order before it has
  // begun round 2, so round 2 never began on all of its nodes. A new world
  // therefore need not contain half of the nodes of round 2.
  for (const char* name : {"b", "e", "f"}) job.BreakStream(name);
  job.Wait(seconds(1));
  job.Idle("a");
  job.Reconnect("c");
  job.Idle("c");
  job.Wait(seconds(5));
  EXPECT_THAT(job.World(), UnorderedElementsAre("a", "c"))
      << "half of the nodes of round 1, and a quarter of round 2";
}

TEST(JobTakeoverTest, TheFirstWorldElectsEvenIfItNeverBegan) {
  // Node a receives the stop order before it has begun round 1. Nodes b and c
  // may have begun round 1 and elected another coordinator, so node a alone
  // must not begin a new round.
  JobFixture job = JobFixture::HostedBy("a", QuickSpec(1, 3));
  for (const char* name : {"a", "b", "c"}) job.Join(name);
  job.BreakStream("b");
  job.Lose("c");
  job.Idle("a");
  job.Wait(seconds(5));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  EXPECT_THAT(job.status().reason, HasSubstr("only 1 of its 3 nodes"));
  job.Reconnect("b");
  job.Wait(seconds(5));
  EXPECT_EQ(job.round(), 2);
}

// The job's first three worlds form one after another, but none of them begins
// on all of its nodes. Each contains nodes a and b, and two other nodes. The
// nodes of the first world stay the electors. So the fourth world must contain
// half of the first world's nodes.
TEST(JobTakeoverTest, OfSeveralWorldsThatNeverBeganTheFirstElects) {
  JobSpec spec = QuickSpec(1, 4);
  spec.takeover = Takeover::kMajority;
  JobFixture job = JobFixture::HostedBy("a", spec);
  const auto come = [&](const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      job.Reconnect(name);
      job.Idle(name);
    }
    job.Wait(seconds(5));
  };
  for (const char* name : {"a", "b"}) job.Join(name);
  for (const std::vector<std::string>& others :
       {std::vector<std::string>{"c", "d"}, {"e", "f"}, {"g", "h"}}) {
    for (const std::string& name : others) job.Join(name);
    if (job.phase() == JobPhase::kGathering) come({"b"});
    ASSERT_THAT(job.World(),
                UnorderedElementsAre("a", "b", others[0], others[1]));
    EXPECT_EQ(job.told("a").electorate.world.round, 1);
    for (const std::string& name : others) job.BreakStream(name);
    job.Lose("b");
    job.Idle("a");
  }
  come({"g", "h", "e"});
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  come({"c"});
  EXPECT_EQ(job.round(), 4) << "a and c are half of the first world";
}

TEST(JobTakeoverTest, TheNextCoordinatorEndsASucceededJobInTheSameWay) {
  JobFixture job = RunningJob(3, 3);
  job.agent("c").deaf = true;
  job.agent("b").deaf = true;
  for (const char* name : {"a", "b", "c"}) job.Succeeds(name);
  ASSERT_EQ(job.told("a").kind, DirectiveKind::kStop);
  job.TakeOver("b");
  for (const char* name : {"b", "c"}) job.agent(name).deaf = false;
  job.ReconnectAll({"a", "b"});
  job.Report("a");
  job.Report("b");
  EXPECT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kSucceeded);
  EXPECT_EQ(job.Count("break"), 0);
}

// The workers of nodes a, b and c fail, so the job is to end. Nodes b and c
// disconnect before they learn of its end. The verdict waits for them until the
// rejoin time-out or, if node a is preempted, only for the time of a lease.
TEST(JobTakeoverTest, AFailuresVerdictNeedsAMajority) {
  for (const bool is_preempted : {false, true}) {
    JobSpec spec = QuickSpec(1, 3);
    spec.max_restarts = 0;
    spec.rejoin_timeout = seconds(20);
    const Duration wait = is_preempted ? spec.lease() : spec.rejoin_timeout;
    JobFixture job = JobFixture::HostedBy("a", spec);
    job.StartAll({"a", "b", "c"});
    for (const char* name : {"b", "c"}) job.agent(name).deaf = true;
    for (const char* name : {"a", "b", "c"}) {
      job.Fails(name, ExitedWith(0, 3));
      job.Idle(name);
    }
    for (const char* name : {"b", "c"}) job.BreakStream(name);
    if (is_preempted) {
      job.agent("a").report.preemption = PreemptionNotice{.signal = 12};
      job.Report("a");
    }
    job.Wait(wait - seconds(2));
    EXPECT_EQ(job.phase(), JobPhase::kStopping);
    job.Wait(seconds(3));
    ASSERT_EQ(job.phase(), JobPhase::kFinished);
    EXPECT_EQ(job.status().verdict->outcome, Outcome::kTimedOut);
    EXPECT_EQ(job.status().verdict->exit_code, 3);
    EXPECT_THAT(
        job.status().verdict->reason,
        HasSubstr(absl::StrCat("only 1 of the 3 nodes of round 1 learned of "
                               "this within ",
                               ToSeconds(wait),
                               " s, so the others may go on; absent: b")));
  }
}

// Node a fails, so the job is to end, and all other nodes report that they
// leave the job. First case: they stay connected and learn the verdict, so the
// job ends at once. Second case: they disconnect. The job then ends after a
// lease. It does not wait for the rejoin time-out, because nodes that leave the
// job do not come back.
TEST(JobTakeoverTest, AFailuresVerdictDoesNotAwaitNodesThatLeave) {
  for (const bool stay : {true, false}) {
    JobSpec spec = QuickSpec(4, 8);
    spec.max_restarts = 0;
    spec.rejoin_timeout = seconds(20);
    JobFixture job = JobFixture::HostedBy("a", spec);
    const std::vector<std::string> others = {"b", "c", "d"};
    for (const char* name : {"a", "b", "c", "d"}) job.Join(name);
    job.Wait(spec.last_call);
    for (const char* name : {"a", "b", "c", "d"}) job.Runs(name);
    job.Fails("a", ExitedWith(0, 3));
    for (const std::string& name : others) {
      job.agent(name).report.leave = "SIGTERM";
      job.Idle(name);
    }
    if (!stay) {
      for (const std::string& name : others) job.BreakStream(name);
      job.Wait(spec.lease() - seconds(1));
      job.Idle("a");
      EXPECT_EQ(job.phase(), JobPhase::kStopping);
      job.Wait(seconds(2));
    } else {
      job.Idle("a");
    }
    ASSERT_EQ(job.phase(), JobPhase::kFinished) << stay;
    EXPECT_EQ(job.status().verdict->outcome,
              stay ? Outcome::kFailed : Outcome::kTimedOut);
  }
}

// Node a fails, so the job is to end. Node b leaves. Nodes c and d are cut off
// for longer than a lease, but have not left. Without them too few nodes know
// the verdict, so the job ends only once c and d are back.
TEST(JobTakeoverTest, AFailuresVerdictAwaitsNodesThatHaveNotLeft) {
  JobSpec spec = QuickSpec(4, 8);
  spec.max_restarts = 0;
  spec.rejoin_timeout = seconds(20);
  JobFixture job = AfterLastCall(spec, {"a", "b", "c", "d"});
  job.Fails("a", ExitedWith(0, 3));
  job.agent("b").report.leave = "SIGTERM";
  for (const char* name : {"b", "c", "d"}) {
    job.Idle(name);
    job.BreakStream(name);
  }
  job.Wait(spec.lease() + seconds(2));
  job.Idle("a");
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  for (const char* name : {"c", "d"}) {
    job.Reconnect(name);
    job.Report(name);
  }
  ASSERT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kFailed);
}

// Node d knows that the job is to end with exit code 3, is lost, and returns.
// Then another failure on node c turns out to be the cause. The coordinator
// tells node d the new exit code at once.
TEST(JobTakeoverTest, ANodeThatReturnedIsToldAChangedEnd) {
  JobSpec spec = QuickSpec(1, 4);
  spec.max_restarts = 0;
  JobFixture job = JobFixture::HostedBy("a", spec);
  job.StartAll({"a", "b", "c", "d"});
  job.Fails("c", ExitedWith(5, 3));
  job.Idle("d");
  job.Lose("d");
  job.Reconnect("d");
  ASSERT_EQ(job.told("d").stop.exit_code, 3);
  Failure raised = ExitedWith(4, 1);
  raised.raised_first = true;
  raised.message = "KeyError: 1";
  job.Fails("c", raised);
  ASSERT_EQ(job.told("a").stop.exit_code, 1);
  EXPECT_EQ(job.told("d").stop.exit_code, 1);
}

// Two of five nodes know the verdict, and one of these two leaves. The node
// that leaves must count only once: as a witness of the verdict, not also as a
// node that has left. So a third node must learn the verdict before the job
// ends.
TEST(JobTakeoverTest, ANodeThatLeavesIsOneWitness) {
  JobSpec spec = QuickSpec(1, 5);
  spec.max_restarts = 0;
  JobFixture job = JobFixture::HostedBy("a", spec);
  job.StartAll({"a", "b", "c", "d", "e"});
  for (const char* name : {"c", "d", "e"}) job.agent(name).deaf = true;
  job.Fails("a", ExitedWith(0, 3));
  job.agent("b").report.leave = "SIGTERM";
  for (const char* name : {"a", "b", "c", "d", "e"}) job.Idle(name);
  for (const char* name : {"c", "d", "e"}) job.BreakStream(name);
  job.Wait(seconds(10));
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.agent("c").deaf = false;
  job.Reconnect("c");
  job.Report("c");
  EXPECT_EQ(job.phase(), JobPhase::kFinished);
}

TEST(JobTakeoverTest, ACancelWaitsForAMajorityForALeaseOnly) {
  JobFixture job = RunningJob(1, 3);
  for (const char* name : {"b", "c"}) {
    job.agent(name).deaf = true;
    job.BreakStream(name);
  }
  job.Step(CancelAsked{.reason = "launch cancel"});
  job.Idle("a");
  job.Wait(seconds(6));
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kCancelled);
}

TEST(JobTakeoverTest, APreemptionWaitsForAMajorityForALeaseOnly) {
  JobFixture job = RunningJob(1, 3);
  for (const char* name : {"b", "c"}) {
    job.agent(name).deaf = true;
    job.BreakStream(name);
  }
  job.Wait(seconds(3));
  ASSERT_EQ(job.phase(), JobPhase::kStopping);
  job.agent("a").report.preemption =
      PreemptionNotice{.signal = 12, .host = "a", .left = seconds(0)};
  job.Idle("a");
  job.Wait(seconds(3));
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.Wait(seconds(3));
  ASSERT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kPreempted);
}

// A worker of c fails, and all nodes know the order to stop for a restart. Then
// c reports that it is preempted. The other nodes must learn this before the
// job ends, or they would begin another round if the coordinator was lost.
TEST(JobTakeoverTest, APreemptionWhileARoundStopsIsToldBeforeItEndsTheJob) {
  JobSpec spec = QuickSpec(1, 3);
  spec.max_restarts = 1;
  JobFixture job = JobFixture::HostedBy("a", spec);
  job.StartAll({"a", "b", "c"});
  job.Fails("c", ExitedWith(2, 3));
  for (const char* name : {"a", "b"}) job.Idle(name);
  job.agent("a").deaf = job.agent("b").deaf = true;
  job.agent("c").report.preemption =
      PreemptionNotice{.signal = 12, .host = "c", .left = seconds(0)};
  job.Idle("c");
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.agent("a").deaf = job.agent("b").deaf = false;
  for (const char* name : {"a", "b"}) {
    job.Report(name);
    EXPECT_TRUE(job.told(name).preemption.has_value());
    job.Report(name);
  }
  ASSERT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kPreempted);
}

TEST(JobTakeoverTest, AWorldThatIsGivenUpElectsNevertheless) {
  for (const Takeover takeover : {Takeover::kAuto, Takeover::kMajority}) {
    JobSpec spec = QuickSpec(2, 3);
    spec.takeover = takeover;
    JobFixture job = JobFixture::HostedBy("a", spec);
    job.StartAll({"a", "b", "c"});
    // Nodes b and c are a majority and have elected the process of b. But c
    // does not connect to it, so b alone is too few to adopt round 1.
    job.TakeOver("b");
    job.Reconnect("b");
    job.Join("d");
    job.Wait(seconds(6));
    ASSERT_THAT(job.Decided("adopt"), HasSubstr("is given up"));
    job.AllStop();
    job.Wait(seconds(5));
    // The job has at most three nodes, and b and d are connected to this
    // coordinator. So at most one node (c) can be connected to another
    // coordinator, too few for a round there. With Takeover::kAuto, b and d may
    // therefore begin a round.
    EXPECT_EQ(job.phase() == JobPhase::kRunning, takeover == Takeover::kAuto);
    if (takeover == Takeover::kMajority) {
      EXPECT_TRUE(job.job().MayAsk());
    }
  }
}

// The job has max_nodes 5 and min_nodes 3. Nodes a to d elect its coordinator.
// Nodes b, e, f and g are connected to this coordinator.
//
// If `leave` is false, at most one other node can run. That is too few for a
// round under another coordinator, so a round begins here. If `leave` is true,
// node b is lost, so two nodes may run elsewhere. They may be two of the nodes
// a to d, and half of the electors suffice for a round there. So no round
// begins here.
TEST(JobTakeoverTest, NodesThatGoElsewhereMayBeginARoundThere) {
  for (const bool leave : {false, true}) {
    JobSpec spec = QuickSpec(2, 5);
    spec.takeover = Takeover::kAuto;
    spec.min_nodes = 3;
    JobFixture job = AfterLastCall(spec, {"a", "b", "c", "d"});
    job.TakeOver("e");
    job.Reconnect("b");
    for (const char* name : {"e", "f", "g"}) job.Join(name);
    StopWorkers(job, {"b"});
    job.Wait(seconds(4));
    ASSERT_EQ(job.Count("adopt"), 0);
    if (leave) job.Lose("b");
    job.Wait(seconds(7));
    ASSERT_THAT(job.Decided("adopt"), HasSubstr("is given up"));
    EXPECT_EQ(job.phase() == JobPhase::kRunning, !leave);
  }
}

// Spares run in addition to the max_nodes nodes of a job, so nodes b and c may
// still come.
TEST(JobTakeoverTest, SparesDoNotShowThatNoFurtherNodeComes) {
  JobSpec spec = QuickSpec(2, 3);
  spec.takeover = Takeover::kAuto;
  JobFixture job = JobFixture::HostedBy("z", spec);
  job.StartAll({"a", "b", "c"});
  for (const char* name : {"s", "t"}) job.Join(name);
  job.TakeOver("s");
  job.ReconnectAll({"a", "s", "t"});
  EXPECT_EQ(job.Count("adopt"), 0);
  job.ReconnectAll({"b", "c"});
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_EQ(job.round(), 1);
}

bool IsToldSpare(JobFixture& job, const std::string& name) {
  return job.told(name).electorate.is_spare;
}

// Node d joins while three nodes, the maximum, are present. It gets the place
// of a lost node.
TEST(SpareTest, ANodeBesideTheMostNodesIsASpareUntilItHasAPlace) {
  JobFixture job = RunningJob(1, 3);
  EXPECT_FALSE(IsToldSpare(job, "c"));
  job.Join("d");
  EXPECT_TRUE(IsToldSpare(job, "d"));
  job.Lose("c");
  job.AllStop();
  job.Wait(seconds(1));
  ASSERT_THAT(job.World(), ElementsAre("a", "b", "d"));
  EXPECT_TRUE(IsToldSpare(job, "d"));
  for (const char* name : {"a", "b", "d"}) job.Runs(name);
  EXPECT_FALSE(IsToldSpare(job, "d"));
  // Node c has been replaced. It becomes a spare.
  job.Reconnect("c");
  EXPECT_TRUE(IsToldSpare(job, "c"));
}

// The first world gets two of four nodes, and the job has room for three. No
// node is a spare before there is a world. With is_lost, the third place may
// belong to node e, which is lost before.
TEST(SpareTest, TheFirstWorldMakesTheLastNodesSpares) {
  for (const bool is_lost : {false, true}) {
    JobSpec spec = QuickSpec(2, 3);
    JobFixture job = JobFixture::HostedBy("a", spec);
    for (const char* name : {"d", "c"}) {
      job.Create(name).report.health = Health::kUnchecked;
    }
    if (is_lost) {
      job.Join("e");
      job.Lose("e");
    }
    for (const char* name : {"d", "c", "b", "a"}) job.Join(name);
    for (const char* name : {"a", "b", "c", "d"}) {
      EXPECT_FALSE(IsToldSpare(job, name)) << name;
    }
    for (const char* name : {"c", "d"}) {
      job.agent(name).report.health = Health::kUnhealthy;
      job.Report(name);
    }
    job.Wait(spec.last_call + seconds(1));
    ASSERT_THAT(job.World(), UnorderedElementsAre("a", "b"));
    for (const char* name : {"a", "b"}) EXPECT_FALSE(IsToldSpare(job, name));
    EXPECT_EQ(IsToldSpare(job, "d"), is_lost);
    EXPECT_TRUE(IsToldSpare(job, "c"));
  }
}

// The world has room for one more node.
TEST(SpareTest, ANodeBesideAWorldWithRoomIsNone) {
  JobFixture job = AfterLastCall(QuickSpec(1, 3), {"a", "b"});
  job.Join("c");
  EXPECT_FALSE(IsToldSpare(job, "c"));
  job.Join("d");
  EXPECT_TRUE(IsToldSpare(job, "d"));
}

// Nodes d and e join while nodes b and c are absent, which may run elsewhere.
TEST(SpareTest, ANodeBesideAbsentOnesMayBeASpare) {
  JobFixture job = RunningJob(1, 3);
  for (const char* name : {"b", "c"}) job.Lose(name);
  for (const char* name : {"d", "e"}) job.Join(name);
  EXPECT_TRUE(IsToldSpare(job, "d"));
  // Node b returns. With half of the electors a world begins.
  job.AllStop();
  job.Reconnect("b");
  EXPECT_FALSE(IsToldSpare(job, "b"));
  StopWorkers(job, {"b"});
  job.Wait(seconds(6));
  ASSERT_THAT(job.World(), ElementsAre("a", "b", "d"));
  for (const char* name : {"a", "b", "d"}) job.Runs(name);
  EXPECT_FALSE(IsToldSpare(job, "d"));
  EXPECT_TRUE(IsToldSpare(job, "e"));
}

// The agent of a member was started again, and reports to the next coordinator,
// which knows the member by the list of the world.
TEST(SpareTest, ARestartedMemberIsNone) {
  JobFixture job = AdoptedJob(2, 4, {"a", "b", "c"});
  job.Restart("d");
  EXPECT_FALSE(IsToldSpare(job, "d"));
  job.Join("e");
  EXPECT_TRUE(IsToldSpare(job, "e"));
}

// A world of more than 8 nodes is not listed, but the coordinator that formed
// it knows its nodes.
TEST(SpareTest, ARestartedMemberOfALargeWorldIsNone) {
  JobFixture job = JobFixture::HostedBy("a", QuickSpec(2, 9));
  job.StartAll({"a", "b", "c", "d", "e", "f", "g", "h", "i"});
  ASSERT_EQ(job.round(), 1);
  job.Lose("i");
  job.Join("x");
  EXPECT_TRUE(IsToldSpare(job, "x"));
  job.Restart("i");
  EXPECT_FALSE(IsToldSpare(job, "i"));
}

// The agent of node c is started again before round 2 has begun on all nodes,
// so that the agent that was ordered to begin it is no elector.
TEST(SpareTest, ARestartedMemberOfARoundThatBeginsIsNone) {
  JobFixture job = RunningJob(1, 3);
  job.Fails("a", ExitedWith(0, 3));
  job.AllStop();
  ASSERT_EQ(job.round(), 2);
  job.Runs("c");
  job.Succeeds("c");
  job.Restart("c");
  for (const char* name : {"a", "b"}) job.Runs(name);
  ASSERT_EQ(job.told("a").electorate.world.round, 2);
  EXPECT_FALSE(IsToldSpare(job, "c"));
}

// A node leaves for good, so the next one certainly replaces it, also if it
// joins beside the next round.
TEST(SpareTest, TheReplacementOfANodeThatHasLeftIsNone) {
  for (const bool joins_later : {true, false}) {
    JobFixture job = RunningJob(1, 3);
    job.agent("c").report.leave = "SIGTERM";
    job.Report("c");
    job.AllStop();
    job.BreakStream("c");
    if (joins_later) {
      job.Wait(seconds(6));
      ASSERT_THAT(job.World(), ElementsAre("a", "b"));
      for (const char* name : {"a", "b"}) job.Runs(name);
    }
    job.Join("x");
    EXPECT_FALSE(IsToldSpare(job, "x"));
  }
}

// Nodes c and d were lost, and may run elsewhere. The job has a fifth place.
// Node c returns.
TEST(SpareTest, LostNodesLeaveNoRoom) {
  JobFixture job = AfterLastCall(QuickSpec(1, 5), {"a", "b", "c", "d"});
  for (const char* name : {"c", "d"}) job.BreakStream(name);
  job.Wait(seconds(1));
  job.Join("u");
  EXPECT_FALSE(IsToldSpare(job, "u")) << "electors count once";
  job.BreakStream("u");
  job.AllStop();
  job.Wait(seconds(6));
  ASSERT_THAT(job.World(), ElementsAre("a", "b"));
  for (const char* name : {"a", "b"}) job.Runs(name);
  job.Join("v");
  EXPECT_TRUE(IsToldSpare(job, "v"));
  job.Reconnect("c");
  EXPECT_FALSE(IsToldSpare(job, "c"));
  job.Reconnect("u");
  EXPECT_FALSE(IsToldSpare(job, "u"));
}

// Node x, a spare, has a place in round 2, which never begins on all nodes. So
// the job has no room for the nodes y and z: node b may have a place, too.
TEST(SpareTest, ASpareWithAPlaceLeavesNoRoom) {
  JobFixture job = RunningJob(1, 2);
  job.Join("x");
  EXPECT_TRUE(IsToldSpare(job, "x"));
  job.agent("b").report.leave = "SIGTERM";
  job.Report("b");
  job.AllStop();
  job.BreakStream("b");
  job.Wait(seconds(1));
  ASSERT_THAT(job.World(), ElementsAre("a", "x"));
  job.Join("y");
  EXPECT_TRUE(IsToldSpare(job, "y"));
  job.Runs("x");
  job.Fails("x", ExitedWith(2, 3));
  // No other round begins, because the only elector is not ready.
  job.agent("a").report.health = Health::kUnchecked;
  job.AllStop();
  ASSERT_EQ(job.phase(), JobPhase::kGathering);
  job.Join("z");
  EXPECT_TRUE(IsToldSpare(job, "z"));
}

// Node c, which was replaced by node x, returns before the new round begins.
TEST(SpareTest, ANodeThatBecomesASpareIsToldSo) {
  JobFixture job = RunningJob(1, 3);
  job.Lose("c");
  job.Join("x");
  job.AllStop();
  job.Wait(seconds(1));
  ASSERT_THAT(job.World(), ElementsAre("a", "b", "x"));
  job.Restart("c");
  EXPECT_FALSE(IsToldSpare(job, "c"));
  for (const char* name : {"a", "b", "x"}) job.Runs(name);
  job.Report("c");
  EXPECT_TRUE(IsToldSpare(job, "c"));
}

// Six of ten nodes continue the round under the next coordinator. It lists no
// nodes, but each of the others reports its rank.
TEST(SpareTest, AMemberThatComesLateToALargeRoundIsNone) {
  JobFixture job = JobFixture::HostedBy("a", QuickSpec(2, 10));
  job.StartAll({"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"});
  ASSERT_EQ(job.round(), 1);
  job.TakeOver("b");
  job.ReconnectAll({"a", "b", "c", "d", "e", "f"});
  ASSERT_THAT(job.Decided("adopt"), HasSubstr("round 1 goes on"));
  for (const char* name : {"g", "h", "i", "j"}) {
    job.Reconnect(name);
    EXPECT_FALSE(IsToldSpare(job, name)) << name;
  }
  job.Join("x");
  EXPECT_TRUE(IsToldSpare(job, "x"));
}

// Node d has not come to the next coordinator, which lists its agent all the
// same.
TEST(JobTakeoverTest, AnAdoptedRoundListsTheAgentsThatHaveNotCome) {
  JobFixture job = AdoptedJob(2, 4, {"a", "b", "c"});
  EXPECT_EQ(job.told("a").electorate.incarnations.at(3),
            job.agent("d").report.node.incarnation);
}

// Node c is absent from a round that goes on under the next coordinator.
TEST(SpareTest, ANodeBesideAnAdoptedRoundMayBeOne) {
  JobFixture job = AdoptedJob(1, 3, {"a", "b"});
  job.Join("x");
  EXPECT_TRUE(IsToldSpare(job, "x"));
}

// Node c is absent from round 2, which has formed, but has not begun yet.
TEST(SpareTest, ANodeBesideARoundThatFormsMayBeOne) {
  JobFixture job = RunningJob(1, 3);
  job.Lose("c");
  job.AllStop();
  job.Wait(seconds(1));
  ASSERT_THAT(job.World(), ElementsAre("a", "b"));
  job.Join("x");
  EXPECT_TRUE(IsToldSpare(job, "x"));
}

// Before its first world, a coordinator believes what another one has told a
// node.
TEST(SpareTest, IsKeptFromOneCoordinatorToTheNext) {
  for (const bool is_spare : {true, false}) {
    JobFixture job = AfterLastCall(QuickSpec(2, 5), {"a", "b", "c", "d"});
    Report& report = job.Create("e").report;
    report.electorate = job.agent("c").report.electorate;
    report.electorate.rank = -1;
    report.electorate.is_spare = is_spare;
    job.TakeOver("b");
    job.ReconnectAll({"a", "b"});
    job.Join("e");
    job.Reconnect("c");
    ASSERT_THAT(job.Decided("adopt"), HasSubstr("round 1 goes on"));
    EXPECT_EQ(IsToldSpare(job, "e"), is_spare);
  }
}

// Node e was told that it is a spare, and has begun round 2 since. The round is
// lost as it begins. Node e, an elector of no round, comes to the next
// coordinator.
TEST(SpareTest, ASpareWithAPlaceIsNone) {
  JobFixture job = RunningJob(2, 4);
  Report& report = job.Create("e").report;
  report.electorate = job.agent("c").report.electorate;
  report.electorate.rank = -1;
  report.electorate.is_spare = true;
  report.place = job.agent("c").report.place;
  report.place->round = report.round = 2;
  job.TakeOver("b");
  job.ReconnectAll({"a", "b", "e"});
  job.Wait(seconds(6));
  EXPECT_FALSE(IsToldSpare(job, "e"));
}

TEST(JobTakeoverTest, ASpareDoesNotCountAsOneOfTheNodes) {
  for (const bool is_spare : {true, false}) {
    JobSpec spec = QuickSpec(2, 4);
    spec.takeover = Takeover::kAuto;
    JobFixture job = JobFixture::HostedBy("a", spec);
    job.StartAll({"a", "b", "c", "d"});
    job.TakeOver("e");
    job.Reconnect("b");
    StopWorkers(job, {"b"});
    Report& report = job.Create("e").report;
    report.electorate = job.agent("b").report.electorate;
    report.electorate.rank = -1;
    report.electorate.is_spare = is_spare;
    for (const char* name : {"e", "f", "g"}) job.Join(name);
    job.Wait(seconds(11));
    ASSERT_THAT(job.Decided("adopt"), HasSubstr("is given up"));
    EXPECT_EQ(job.phase() == JobPhase::kRunning, !is_spare);
  }
}

// The job has at most four nodes, and min_nodes is 3. This coordinator gives up
// the adoption of the earlier round while only b and e are connected. Node f
// joins later, and must nevertheless count as one of the job's four nodes. Then
// only one other node can run, too few for a round under another coordinator.
// So a round begins here.
TEST(JobTakeoverTest, ANodeThatComesLaterCountsAsOneOfTheNodes) {
  JobSpec spec = QuickSpec(3, 4);
  spec.takeover = Takeover::kAuto;
  JobFixture job = JobFixture::HostedBy("a", spec);
  job.StartAll({"a", "b", "c", "d"});
  job.TakeOver("e");
  job.Reconnect("b");
  StopWorkers(job, {"b"});
  job.Join("e");
  job.Wait(seconds(6));
  ASSERT_THAT(job.Decided("adopt"), HasSubstr("is given up"));
  job.Join("f");
  job.Wait(seconds(5));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

// Of the connected nodes, only b knows round 1. Node b is lost before the
// coordinator has decided whether to adopt round 1. The coordinator must
// remember b's report: a new round needs half of the nodes of round 1. They are
// not connected, so no new round begins.
TEST(JobTakeoverTest, ARoundThatOnlyALostNodeKnewElectsNevertheless) {
  JobSpec spec = QuickSpec(1, 3);
  spec.takeover = Takeover::kMajority;
  JobFixture job = JobFixture::HostedBy("a", spec);
  job.StartAll({"a", "b", "c"});
  job.TakeOver("d");
  job.Reconnect("b");
  job.Join("d");
  job.Lose("b");
  job.Wait(seconds(20));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  EXPECT_EQ(job.round(), 0);
  EXPECT_TRUE(job.job().MayAsk());
}

TEST(JobTakeoverTest, ALostNodeHasNotCome) {
  JobFixture job = RunningJob(1, 3);
  job.TakeOver("d");
  job.Reconnect("b");
  job.Lose("b");
  job.Reconnect("c");
  EXPECT_EQ(job.Count("adopt"), 0);
  job.Reconnect("b");
  EXPECT_THAT(job.Decided("adopt"), HasSubstr("round 1 goes on: 2 of its 3"));
}

TEST(JobTakeoverTest, ARoundIsGivenUpAtOnceIfAllNodesAreHere) {
  JobFixture job = RunningJob(3, 3);
  job.TakeOver("b");
  job.Reconnect("b");
  job.Restart("a");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kHold);
  job.Restart("c");
  EXPECT_THAT(job.Decided("adopt"), HasSubstr("is given up"));
  job.AllStop();
  for (const char* name : {"a", "c"}) job.Report(name);
  EXPECT_EQ(job.round(), 2);
}

// Returns a job of nodes a to c in which node b knows that an earlier
// coordinator has ended the job with round 1 (exit code 3). The process of b
// coordinates the job now, and no node is connected.
JobFixture JobThatIsOver(Takeover takeover) {
  JobSpec spec = QuickSpec(2, 3);
  spec.takeover = takeover;
  spec.max_restarts = 0;
  JobFixture job = JobFixture::HostedBy("a", spec);
  job.StartAll({"a", "b", "c"});
  job.Fails("b", ExitedWith(1, 3));
  job.Idle("b");
  job.TakeOver("b");
  return job;
}

TEST(JobTakeoverTest, AJobThatIsOverEndsWithoutAMajorityOfItsLastRound) {
  JobFixture job = JobThatIsOver(Takeover::kAuto);
  job.Reconnect("b");
  // Nodes a and c have new agents, which do not know round 1.
  for (const char* name : {"a", "c"}) job.Restart(name);
  EXPECT_THAT(job.Decided("adopt"),
              HasSubstr("round 1 is given up: only 1 of its 3 nodes are among "
                        "the 3 nodes here; the job had ended with it"));
  for (const char* name : {"a", "c"}) job.Report(name);
  ASSERT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kFailed);
  EXPECT_EQ(job.status().verdict->exit_code, 3);
  ASSERT_TRUE(job.status().verdict->cause.has_value());
  EXPECT_EQ(job.status().verdict->cause->rank, 1);
}

// Node a reports a failure that is a consequence of the failure on node b. If
// `knows_cause`, node b then reports its own failure, which is the cause.
// Otherwise node b's agent was started again, and no node knows the cause.
TEST(JobTakeoverTest, AJobThatIsOverNamesTheCauseIfANodeKnowsIt) {
  for (const bool knows_cause : {false, true}) {
    JobFixture job = JobThatIsOver(Takeover::kAuto);
    Report& report = job.agent("a").report;
    report.phase = NodePhase::kIdle;
    report.failures = {ExitedWith(0, 1)};
    report.round_end = job.agent("b").report.round_end;
    job.Reconnect("a");
    if (knows_cause) {
      job.agent("b").report.phase = NodePhase::kStopping;
      job.Reconnect("b");
      job.Idle("b");
    } else {
      job.Restart("b");
    }
    job.Restart("c");
    for (const char* name : {"a", "b", "c"}) job.Report(name);
    job.Wait(seconds(6));
    ASSERT_EQ(job.phase(), JobPhase::kFinished);
    const Verdict verdict = *job.status().verdict;
    EXPECT_EQ(verdict.exit_code, 3);
    ASSERT_EQ(verdict.cause.has_value(), knows_cause);
    if (!knows_cause) continue;
    EXPECT_EQ(verdict.cause->rank, 1);
    EXPECT_EQ(verdict.cause->node_id, "b");
    EXPECT_EQ(verdict.cause->host, "b");
    EXPECT_EQ(verdict.cause->group_rank, 1);
    ASSERT_THAT(verdict.collateral, SizeIs(1));
    EXPECT_EQ(verdict.collateral[0].rank, 0);
  }
}

// The nodes of round 2 are the electorate. Only node d knows this, and node d
// is lost again.
TEST(JobTakeoverTest, ALostNodeMayKnowThatTheNewestRoundHasBegun) {
  JobSpec spec = QuickSpec(3, 5);
  JobFixture job = AfterLastCall(spec, {"a", "b", "c", "d"});
  job.Fails("a", ExitedWith(0, 3));
  job.Join("e");
  for (const char* name : {"b", "c", "e"}) {
    job.agent(name).report.electorate = job.agent(name).told.electorate;
  }
  job.AllStop();
  job.Idle("a");
  ASSERT_THAT(job.World(), UnorderedElementsAre("a", "b", "c", "d", "e"));
  const Electorate older = job.agent("b").report.electorate;
  ASSERT_EQ(older.world.round, 1);
  for (const char* name : {"a", "b", "c", "d", "e"}) job.Runs(name);
  ASSERT_EQ(job.told("b").electorate.world.round, 2);
  for (const char* name : {"b", "c", "e"}) {
    const int rank = job.agent(name).report.electorate.rank;
    job.agent(name).report.electorate = older;
    job.agent(name).report.electorate.rank = name[0] == 'e' ? -1 : rank;
  }
  job.TakeOver("f");
  job.Reconnect("b");
  job.Reconnect("d");
  job.Lose("d");
  job.ReconnectAll({"c", "e"});
  EXPECT_THAT(job.Decided("adopt"), HasSubstr("round 2 goes on: 3 of its"));
}

// Only one of the three electors, node b, is connected. If nodes x, y and z are
// ready as well, at most one of the job's five nodes can be connected to
// another coordinator: less than half of the electorate. So a round begins. If
// node z is not ready, it does not count, and no round begins.
TEST(JobTakeoverTest, OnlyReadyNodesAreNotElsewhere) {
  for (const bool is_ready : {true, false}) {
    const JobSpec spec = QuickSpec(3, 5);
    JobFixture job = AfterLastCall(spec, {"a", "b", "c"});
    job.TakeOver("b");
    job.Reconnect("b");
    for (const char* name : {"x", "y", "z"}) {
      Report& report = job.Create(name).report;
      if (name == std::string("z") && !is_ready) {
        report.health = Health::kUnhealthy;
        report.unhealthy = "a GPU is gone";
      }
      job.Join(name);
    }
    StopWorkers(job, {"b"});
    job.Wait(spec.lease() + seconds(5));
    EXPECT_EQ(job.phase() == JobPhase::kRunning, is_ready);
  }
}

// Nodes e and f are in the last round, but only nodes a to d are electors. The
// job ends only once half of nodes a to d know how it ends.
TEST(JobTakeoverTest, OnlyElectorsAreWitnesses) {
  JobSpec spec = QuickSpec(2, 4);
  spec.takeover = Takeover::kMajority;
  spec.max_restarts = 0;
  JobFixture job = AfterLastCall(spec, {"a", "b", "c", "d"});
  for (const char* name : {"e", "f"}) job.Join(name);
  job.BreakStream("c");
  job.Lose("d");
  job.AllStop();
  job.Wait(seconds(10));
  ASSERT_THAT(job.World(), UnorderedElementsAre("a", "b", "e", "f"));
  for (const char* name : {"e", "f"}) job.Runs(name);
  job.Fails("e", ExitedWith(2, 3));
  for (const char* name : {"a", "b"}) job.Idle(name);
  job.BreakStream("a");
  job.Lose("b");
  for (const char* name : {"e", "f"}) job.Idle(name);
  job.Wait(seconds(5));
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  for (const char* name : {"a", "b"}) {
    job.Reconnect(name);
    job.Report(name);
  }
  job.Wait(seconds(5));
  EXPECT_EQ(job.phase(), JobPhase::kFinished);
}

// Nodes a, b and c are the electorate. Round 2 is stopped, and only one
// elector, node c, stays connected. Once node x joins, four of the job's five
// nodes are connected. So at most one node can be connected to another
// coordinator, and a round begins.
TEST(JobTakeoverTest, NodesOfAStoppedRoundAreNotElsewhere) {
  const JobSpec spec = QuickSpec(3, 5);
  JobFixture job = AfterLastCall(spec, {"a", "b", "c"});
  for (const char* name : {"d", "e"}) job.Join(name);
  job.agent("a").report.leave = "SIGTERM";
  job.Report("a");
  job.AllStop();
  job.Wait(seconds(10));
  ASSERT_THAT(job.World(), UnorderedElementsAre("b", "c", "d", "e"));
  for (const char* name : {"b", "c", "d", "e"}) BeginsUnseen(job, name);
  job.TakeOver("d");
  job.ReconnectAll({"b", "c", "d", "e"});
  ASSERT_THAT(job.Decided("adopt"), HasSubstr("round 2 is stopped"));
  job.Lose("b");
  for (const char* name : {"c", "d", "e"}) job.Idle(name);
  job.Wait(spec.lease());
  EXPECT_EQ(job.round(), 2);
  job.Join("x");
  job.Wait(spec.lease());
  EXPECT_EQ(job.round(), 3);
}

// Nodes x, y and z join while a round goes on or begins, so they may be spares.
// Only one of the four electors is connected. The three other electors may run
// under another coordinator, so no round begins.
TEST(JobTakeoverTest, NodesBesideARoundMayBeSpares) {
  for (const bool is_adopted : {true, false}) {
    JobFixture job = RunningJob(2, 4);
    if (is_adopted) {
      job.TakeOver("b");
      job.ReconnectAll({"a", "b", "c", "d"});
      ASSERT_THAT(job.Decided("adopt"), HasSubstr("round 1 goes on"));
    } else {
      job.Fails("a", ExitedWith(0, 3));
      job.AllStop();
      ASSERT_EQ(job.round(), 2);
      job.Runs("b");
    }
    for (const char* name : {"x", "y", "z"}) job.Join(name);
    for (const char* name : {"a", "c"}) job.BreakStream(name);
    job.Lose("d");
    StopWorkers(job, {"b"});
    job.Wait(seconds(20));
    EXPECT_EQ(job.phase(), JobPhase::kGathering);
  }
}

// Spares connect first. Then the nodes of the electorate connect; their agents
// were started again. A world of the spares and only one of these nodes must
// not form: the other nodes could form another world elsewhere.
TEST(JobTakeoverTest, NodesThatAreNoSparesGetTheirPlacesFirst) {
  const JobSpec spec = QuickSpec(3, 6);
  JobFixture job = AfterLastCall(spec, {"a", "b", "c", "d", "e", "f"});
  for (const char* name : {"1", "2", "3"}) job.Join(name);
  job.TakeOver("b");
  for (const char* name : {"1", "2", "3", "b"}) job.Reconnect(name);
  for (const char* name : {"c", "d", "e", "f"}) job.Restart(name);
  job.Wait(seconds(1));
  job.AllStop();
  StopWorkers(job, {"b"});
  job.Wait(spec.lease() + seconds(10));
  EXPECT_THAT(job.World(), ::testing::IsSupersetOf({"b", "c", "d", "e", "f"}));
}

// The agents of five electors are started again, and connect to the same
// coordinator. The electors get places before the spares. The last place goes
// to the spare that joined first (node 3).
TEST(JobTakeoverTest, RestartedElectorsGetTheirPlacesBeforeSpares) {
  const JobSpec spec = QuickSpec(3, 6);
  JobFixture job = AfterLastCall(spec, {"a", "b", "c", "d", "e", "f"});
  for (const char* name : {"3", "1", "2"}) job.Join(name);
  for (const char* name : {"a", "b", "c", "d", "e"}) job.BreakStream(name);
  job.Lose("f");
  for (const char* name : {"b", "c", "d", "e", "f"}) job.Restart(name);
  job.Wait(seconds(10));
  EXPECT_THAT(job.World(), UnorderedElementsAre("b", "c", "d", "e", "f", "3"));
}

// The agents of all nodes of round 2 are started again, so none of them runs
// this round any more. The coordinator waits while other nodes may run it. Once
// max_nodes (4) nodes are connected, there are no other nodes, so the next
// round begins.
TEST(JobTakeoverTest, ARoundWhoseAgentsWereStartedAgainIsNotAwaited) {
  for (const bool has_begun : {true, false}) {
    JobSpec spec = QuickSpec(2, 4);
    JobFixture job = JobFixture::HostedBy("z", spec);
    job.StartAll({"b", "c", "d", "e"});
    job.Fails("b", ExitedWith(0, 3));
    job.AllStop();
    ASSERT_EQ(job.round(), 2);
    if (has_begun) {
      for (const char* name : {"b", "c", "d", "e"}) job.Runs(name);
    }
    for (const char* name : {"b", "c", "d"}) job.BreakStream(name);
    job.Lose("e");
    job.Wait(seconds(6));
    for (const char* name : {"b", "c", "d"}) job.Restart(name);
    job.Wait(seconds(5));
    EXPECT_EQ(job.phase(), JobPhase::kGathering);
    job.Restart("e");
    job.Wait(seconds(5));
    EXPECT_EQ(job.round(), 3);
  }
}

// Node a has begun round 2, and is lost. A cancel ends round 3, which no node
// has begun. The nodes that know of the cancel have places only in round 1. The
// next coordinator must nevertheless end the job as cancelled.
TEST(JobTakeoverTest, TheEndOfALaterRoundIsToldToo) {
  JobSpec spec = QuickSpec(2, 4);
  spec.takeover = Takeover::kMajority;
  JobFixture job = JobFixture::HostedBy("z", spec);
  job.StartAll({"a", "b", "c", "d"});
  job.Fails("a", ExitedWith(0, 3));
  job.AllStop();
  ASSERT_EQ(job.round(), 2);
  job.Runs("a");
  job.Lose("a");
  job.AllStop();
  job.Wait(seconds(12));
  ASSERT_EQ(job.round(), 3);
  job.Step(CancelAsked{"user"});
  job.AllStop();
  ASSERT_EQ(job.phase(), JobPhase::kFinished);
  ASSERT_EQ(job.agent("b").report.place->round, 1);
  job.TakeOver("b");
  job.ReconnectAll({"a", "b", "c"});
  job.Wait(seconds(6));
  job.Idle("a");
  job.Wait(seconds(6));
  ASSERT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kCancelled);
}

// Only node a has begun the first round. The job ends because its program does
// not start on node a. Nodes b and c have no place, but tell the next
// coordinator how the job has ended.
TEST(JobTakeoverTest, ANodeWithoutAPlaceTellsTheEnd) {
  JobSpec spec = QuickSpec(2, 3);
  spec.takeover = Takeover::kMajority;
  JobFixture job = JobFixture::HostedBy("a", spec);
  for (const char* name : {"a", "b", "c"}) job.Join(name);
  job.Runs("a");
  Failure failure = ExitedWith(0, 1);
  failure.kind = FailureKind::kStartFailed;
  job.Fails("a", failure);
  for (const char* name : {"a", "b", "c"}) job.Idle(name);
  ASSERT_EQ(job.phase(), JobPhase::kFinished);
  ASSERT_FALSE(job.agent("b").report.place.has_value());
  job.TakeOver("b");
  job.ReconnectAll({"b", "c"});
  job.Wait(seconds(10));
  ASSERT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kFailed);
}

// Node h hosts the first coordinator. Node a is not in round 2, so its report
// contains the rank of h in round 1. The next coordinator must look for the
// rank of h in round 2.
TEST(JobTakeoverTest, TheLostHostIsFoundByTheRanksOfItsRound) {
  JobSpec spec = QuickSpec(2, 5);
  spec.takeover = Takeover::kMajority;
  JobFixture job = JobFixture::HostedBy("h", spec);
  job.StartAll({"a", "b", "c", "d", "h"});
  job.BreakStream("b");
  job.Lose("a");
  job.AllStop();
  job.Wait(seconds(10));
  ASSERT_THAT(job.World(), UnorderedElementsAre("c", "d", "h"));
  ASSERT_EQ(job.agent("a").report.host_rank, 4);
  for (const char* name : {"c", "d"}) BeginsUnseen(job, name);
  job.TakeOver("c");
  job.ReconnectAll({"a", "c", "d"});
  EXPECT_THAT(job.Decided("break"),
              HasSubstr("(h) is lost, which coordinated"));
}

// Node b has no place in round 1, but knows that round 1 is the electorate. The
// elected coordinator learns this from node b, and begins no round without half
// of the nodes of round 1.
TEST(JobTakeoverTest, AnElectorWithoutAPlaceKnowsTheElectorate) {
  JobSpec spec = QuickSpec(2, 4);
  spec.takeover = Takeover::kMajority;
  JobFixture job = JobFixture::HostedBy("a", spec);
  for (const char* name : {"a", "b", "c"}) job.Join(name);
  job.Wait(spec.last_call);
  ASSERT_EQ(job.round(), 1);
  job.TakeOver("b");
  job.Reconnect("b");
  job.Join("g");
  job.Wait(seconds(20));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Reconnect("c");
  job.Wait(seconds(5));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

// The nodes of round 1 come to the next coordinator with new agents, which do
// not know the round. Only node d, a spare, knows that round 1 has begun. So
// the next round gets the number 2.
TEST(JobTakeoverTest, NodesWithoutAPlaceKnowWhichRoundsThereWere) {
  const JobSpec spec = QuickSpec(2, 3);
  JobFixture job = RunningJob(2, 3);
  job.Join("d");
  job.TakeOver("d");
  job.Reconnect("d");
  for (const char* name : {"a", "b", "c"}) job.Restart(name);
  job.Wait(spec.lease() + seconds(5));
  EXPECT_EQ(job.told("a").place.round, 2);
}

// No node has begun round 2 when node c leaves. Once all nodes have seen the
// stop order, no node can begin round 2 any more. So node d takes c's place in
// a new round at once.
TEST(JobTakeoverTest, ARoundThatNobodyHasBegunDelaysNoOther) {
  JobSpec spec = QuickSpec(1, 3);
  spec.takeover = Takeover::kMajority;
  JobFixture job = JobFixture::HostedBy("a", spec);
  job.StartAll({"a", "b", "c"});
  job.Fails("a", ExitedWith(0, 3));
  job.AllStop();
  ASSERT_EQ(job.round(), 2);
  job.Join("d");
  job.agent("c").report.leave = "SIGTERM";
  job.Report("c");
  ASSERT_EQ(job.phase(), JobPhase::kStopping);
  for (const char* name : {"a", "b", "c"}) job.Report(name);
  EXPECT_THAT(job.World(), UnorderedElementsAre("a", "b", "d"));
}

// Round 2 has the same nodes as round 1. Only node b has begun round 2 when the
// coordinator is lost, so the nodes of round 1 are still the electorate. Round
// 3 needs half of them.
TEST(JobTakeoverTest, AfterARoundThatMayHaveBegunTheElectorateIsNeeded) {
  using Names = std::set<std::string>;
  for (const Names& others : {Names{"c", "d"}, Names{"c"}, Names{"x"}}) {
    JobSpec spec = QuickSpec(2, 6);
    spec.takeover = Takeover::kMajority;
    JobFixture job = AfterLastCall(spec, {"a", "b", "c", "d"});
    EXPECT_EQ(job.told("b").place.electors, 0);
    job.Fails("a", ExitedWith(0, 1));
    for (const char* name : {"c", "d"}) job.agent(name).deaf = true;
    job.agent("c").report.phase = job.agent("d").report.phase =
        NodePhase::kIdle;
    job.AllStop();
    for (const char* name : {"c", "d"}) job.Idle(name);
    job.Wait(seconds(10));
    ASSERT_EQ(job.round(), 2);
    EXPECT_EQ(job.told("b").place.electors, 4);
    job.Runs("b");
    for (const char* name : {"c", "d"}) job.agent(name).deaf = false;
    job.TakeOver("b");
    job.Reconnect("b");
    for (const std::string& name : others) job.Join(name);
    job.Wait(spec.lease() + seconds(1));
    ASSERT_THAT(job.Decided("adopt"), HasSubstr("round 2 is given up"));
    EXPECT_EQ(job.job().MayAnnounce(), others.contains("c"));
    if (others.contains("c")) {
      EXPECT_EQ(job.told("c").electorate.world.round, 1);
      EXPECT_EQ(job.told("c").electorate.rank, 2);
    }
    job.AllStop();
    job.Wait(spec.lease());
    EXPECT_EQ(job.Count("assign") > 2, others.contains("c"));
  }
}

// Round 2 has begun on nodes b and c. Its coordinator, on node a, is lost
// before it knows this. The third node of the round is node a in the first
// case, and node d in the second one.
TEST(JobTakeoverTest, ARoundThatMayNotHaveBegunIsStopped) {
  for (const bool is_host_a_member : {true, false}) {
    const JobSpec spec = QuickSpec(2, 3);
    JobFixture job = RunningJob(2, 3);
    if (!is_host_a_member) {
      job.Join("d");
      job.agent("a").report.leave = "SIGTERM";
    }
    job.Fails("b", ExitedWith(1, 3));
    job.AllStop();
    job.Wait(spec.last_call);
    ASSERT_EQ(job.round(), 2);
    ASSERT_EQ(job.World().size(), 3u);
    for (const char* name : {"b", "c"}) BeginsUnseen(job, name);
    job.TakeOver("b");
    job.ReconnectAll({"b", "c"});
    EXPECT_THAT(job.Decided("adopt"),
                HasSubstr("round 2 is stopped: 2 of its"));
    EXPECT_THAT(job.Decided("break"),
                HasSubstr(is_host_a_member
                              ? "rank 0 (a) is lost, which coordinated the job"
                              : "the earlier coordinator was lost before"));
    EXPECT_EQ(job.told("c").electorate.world.round, 1);
    EXPECT_EQ(job.told("c").electorate.rank, 2);
    EXPECT_EQ(job.kind("b"), DirectiveKind::kStop);
    job.Idle("b");
    EXPECT_EQ(job.phase(), JobPhase::kStopping);
    job.Idle("c");
    job.Wait(spec.lease());
    EXPECT_EQ(job.round(), 3);
    EXPECT_EQ(job.status().restarts_used, 1) << "for the failure on node b";
  }
}

// All nodes of round 2 (b and c) report to the next coordinator. So this
// coordinator knows that round 2 has begun on all of its nodes, and lets it go
// on.
TEST(JobTakeoverTest, ARoundOfWhichAllNodesComeGoesOn) {
  const JobSpec spec = QuickSpec(2, 3);
  JobFixture job = RunningJob(2, 3);
  job.agent("a").report.leave = "SIGTERM";
  job.Fails("b", ExitedWith(1, 3));
  job.AllStop();
  job.Wait(spec.last_call);
  ASSERT_EQ(job.World().size(), 2u);
  for (const char* name : {"b", "c"}) BeginsUnseen(job, name);
  job.TakeOver("b");
  job.ReconnectAll({"b", "c"});
  EXPECT_THAT(job.Decided("adopt"), HasSubstr("round 2 goes on"));
  EXPECT_EQ(job.told("c").electorate.world.round, 2);
  job.Wait(spec.lease());
  EXPECT_EQ(job.Count("break"), 1) << "that of round 1";
}

// The next coordinator must stop round 2, because it may not have begun on all
// of its nodes. But a failure on node b has already broken round 2, so this
// failure is the reason of the break.
TEST(JobTakeoverTest, AFailureBreaksARoundThatIsToBeStopped) {
  for (const bool is_host_a_member : {true, false}) {
    const JobSpec spec = QuickSpec(2, 3);
    JobFixture job = RunningJob(2, 3);
    if (!is_host_a_member) {
      job.Join("d");
      job.agent("a").report.leave = "SIGTERM";
    }
    job.Fails("b", ExitedWith(1, 3));
    job.AllStop();
    job.Wait(spec.last_call);
    ASSERT_EQ(job.round(), 2);
    for (const char* name : {"b", "c"}) BeginsUnseen(job, name);
    job.TakeOver("b");
    job.FailsUnreported("b", ExitedWith(2, 4), NodePhase::kStopping);
    job.ReconnectAll({"b", "c"});
    ASSERT_THAT(job.Decided("adopt"), HasSubstr("round 2 is stopped"));
    EXPECT_THAT(job.Decided("break"), HasSubstr("rank 2 on b: exit code 4"));
    // Node a, the host of the lost coordinator, is lost. If node a belonged to
    // round 2, this loss explains the failure of node b's worker.
    EXPECT_EQ(job.Count("blame"), is_host_a_member ? 1 : 0);
    EXPECT_EQ(job.status().restarts_used, 1) << "for the failure of round 1";
    // The failure of round 1 has used the job's only restart. So the job ends,
    // unless the loss of node a explains the failure of round 2.
    for (const char* name : {"b", "c"}) job.Idle(name);
    EXPECT_EQ(job.phase() == JobPhase::kFinished, !is_host_a_member);
  }
}

// Returns a job whose electorate is round 1 with the nodes a to d. Nodes a and
// b are cut off, and round 2 is to begin on nodes c, d and e. The coordinator
// loses these before it knows that the round has begun on all of them. Then
// nodes a and b, half of the electorate, come back. `began`: the nodes that
// report that they have begun round 2, before they are lost.
JobFixture AfterALostRound(const JobSpec& spec,
                           const std::vector<std::string>& began) {
  JobFixture job = AfterLastCall(spec, {"a", "b", "c", "d"});
  for (const char* name : {"a", "b"}) job.BreakStream(name);
  job.Lose("a");
  job.Join("e");
  job.AllStop();
  job.Wait(seconds(10));
  EXPECT_EQ(job.round(), 2);
  for (const std::string& name : began) job.Runs(name);
  for (const char* name : {"d", "e"}) job.BreakStream(name);
  job.Lose("c");
  for (const char* name : {"a", "b"}) {
    job.Reconnect(name);
    StopWorkers(job, {name});
  }
  return job;
}

// Round 2 may run on the nodes that the coordinator has lost.
TEST(JobTakeoverTest, NoRoundBeginsBesideOneThatMayRun) {
  JobSpec spec = QuickSpec(2, 4);
  spec.join_timeout = seconds(30);
  for (const bool comes_back : {true, false}) {
    spec.takeover = comes_back ? Takeover::kAuto : Takeover::kMajority;
    JobFixture job = AfterALostRound(spec, {});
    job.Wait(seconds(10));
    ASSERT_EQ(job.phase(), JobPhase::kGathering);
    EXPECT_THAT(job.status().reason, HasSubstr("round 2 may run elsewhere"));
    // Node d is started again. Its old agent, which belongs to round 2, may
    // still run somewhere.
    job.Restart("d");
    job.Report("d");
    job.Wait(seconds(5));
    ASSERT_EQ(job.phase(), JobPhase::kGathering);
    if (comes_back) {
      // Node e has not begun round 2, and now never will.
      job.Reconnect("e");
      job.Report("e");
      job.Wait(seconds(10));
      EXPECT_EQ(job.round(), 3);
      continue;
    }
    job.Wait(spec.join_timeout);
    ASSERT_EQ(job.phase(), JobPhase::kFinished);
    EXPECT_EQ(job.status().verdict->outcome, Outcome::kTimedOut);
    EXPECT_THAT(job.status().verdict->reason,
                HasSubstr("1 must before another round begins; no more did "
                          "within 30 s"));
  }
}

// Nodes a to d are connected, and the job has at most four nodes. But nodes c
// and d, which belong to round 2, have not yet received a directive after the
// order to begin it. So they may still begin it.
TEST(JobTakeoverTest, MembersThatMayStillBeginARoundAreAwaited) {
  JobSpec spec = QuickSpec(2, 4);
  spec.takeover = Takeover::kAuto;
  JobFixture job = AfterALostRound(spec, {});
  job.Wait(seconds(10));
  for (const char* name : {"c", "d"}) {
    job.agent(name).deaf = true;
    job.Reconnect(name);
  }
  job.Wait(seconds(3));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  EXPECT_THAT(job.status().reason, HasSubstr("round 2 may run elsewhere"));
  for (const char* name : {"c", "d"}) {
    job.agent(name).deaf = false;
    job.Report(name);
    job.Report(name);
  }
  job.Wait(seconds(2));
  EXPECT_EQ(job.round(), 3);
}

// Round 2 may have begun on nodes c, d and e, which are lost. But a round needs
// 3 of at most 4 nodes, so two rounds can never run at once. Nodes a, b and f
// therefore begin round 3 without waiting for round 2.
TEST(JobTakeoverTest, WhereTwoWorldsNeverRunNoneIsAwaited) {
  JobFixture job = AfterALostRound(QuickSpec(3, 4), {"c", "d"});
  job.Join("f");
  job.Wait(seconds(10));
  EXPECT_EQ(job.round(), 3);
}

TEST(JobTakeoverTest, AnAdoptedEndNamesTheCauseOnceANodeReportsIt) {
  for (const bool comes_later : {false, true}) {
    JobSpec spec = QuickSpec(2, 3);
    spec.max_restarts = 0;
    JobFixture job = JobFixture::HostedBy("a", spec);
    job.StartAll({"a", "b", "c"});
    job.Fails("c", ExitedWith(2, 3));
    job.Idle("c");
    job.agent("a").report.failures = {ExitedWith(0, 1)};
    for (const char* name : {"a", "b"}) {
      Report& report = job.agent(name).report;
      report.phase = NodePhase::kStopping;
      report.round_end = job.agent("c").report.round_end;
    }
    job.TakeOver("b");
    job.ReconnectAll({"a", "b"});
    ASSERT_THAT(job.Decided("adopt"), HasSubstr("round 1 goes on"));
    if (comes_later) {
      job.Reconnect("c");
      job.Lose("c");
      job.Reconnect("c");
    }
    job.AllStop();
    job.Wait(seconds(1));
    ASSERT_EQ(job.phase(), JobPhase::kFinished);
    const Verdict verdict = *job.status().verdict;
    EXPECT_EQ(verdict.exit_code, 3);
    ASSERT_EQ(verdict.cause.has_value(), comes_later);
    if (comes_later) {
      EXPECT_EQ(verdict.cause->node_id, "c");
      EXPECT_EQ(verdict.cause->group_rank, 2);
    }
    ASSERT_THAT(verdict.collateral, SizeIs(1));
    EXPECT_EQ(verdict.collateral[0].node_id, "a");
  }
}

// The coordinator first ordered a stop that ends the job because of a failure.
// Then it found another cause, and ordered a stop after which another round
// follows. Node b knows only the first stop order, node c the second one.
TEST(JobTakeoverTest, AWithdrawnEndDoesNotEndTheJob) {
  JobFixture job = JobThatIsOver(Takeover::kAuto);
  const Report& first = job.agent("b").report;
  Report& second = job.agent("c").report;
  second.phase = NodePhase::kIdle;
  second.electorate = first.electorate;
  second.electorate.rank = 2;
  second.round_end = RoundEnd{.reason = "a is lost",
                              .epoch = first.round_end->epoch,
                              .revision = first.round_end->revision + 1};
  job.ReconnectAll({"b", "c"});
  ASSERT_THAT(job.Decided("adopt"), HasSubstr("round 1 goes on"));
  job.Restart("a");
  job.Wait(seconds(5));
  EXPECT_EQ(job.round(), 2);
}

// The worker of c fails, and a restart is ordered. Then the job is cancelled,
// which only one of the nodes b and c learns before the coordinator is lost.
TEST(JobTakeoverTest, ACancelOfABrokenRoundEndsTheJobUnderTheNextCoordinator) {
  for (const std::string deaf : {"b", "c"}) {
    JobSpec spec = QuickSpec(2, 3);
    spec.max_restarts = 1;
    JobFixture job = JobFixture::HostedBy("a", spec);
    job.StartAll({"a", "b", "c"});
    job.Fails("c", ExitedWith(2, 3));
    ASSERT_EQ(job.told("b").kind, DirectiveKind::kStop);
    job.agent(deaf).deaf = true;
    job.Step(CancelAsked{"enough"});
    job.agent(deaf).deaf = false;
    for (const char* name : {"b", "c"}) {
      job.agent(name).report.phase = NodePhase::kIdle;
    }
    job.TakeOver("b");
    job.ReconnectAll({"b", "c"});
    job.Wait(seconds(6));
    ASSERT_EQ(job.phase(), JobPhase::kFinished) << deaf;
    EXPECT_EQ(job.status().verdict->outcome, Outcome::kCancelled) << deaf;
    EXPECT_THAT(job.status().verdict->reason,
                EndsWith("exit code 3; cancelled: enough"));
    ASSERT_TRUE(job.status().verdict->cause.has_value());
    EXPECT_EQ(job.status().verdict->cause->node_id, "c");
  }
}

// Five nodes train, and the job is cancelled. Only node e learns this before
// the coordinator on node a is lost. The next coordinator adopts the round with
// nodes b, c and d. When e reports, the round runs, has just been stopped
// because a is lost, or is over.
TEST(JobTakeoverTest, TheEndOfAnAdoptedRoundMayComeLater) {
  for (const JobPhase phase :
       {JobPhase::kRunning, JobPhase::kStopping, JobPhase::kGathering}) {
    JobFixture job = JobFixture::HostedBy("a", QuickSpec(5, 5));
    job.StartAll({"a", "b", "c", "d", "e"});
    for (const char* name : {"b", "c", "d"}) job.agent(name).deaf = true;
    job.Step(CancelAsked{"enough"});
    for (const char* name : {"b", "c", "d"}) job.agent(name).deaf = false;
    job.TakeOver("b");
    job.ReconnectAll({"b", "c", "d"});
    ASSERT_THAT(job.Decided("adopt"), HasSubstr("round 1 goes on"));
    if (phase != JobPhase::kRunning) job.Wait(seconds(3));
    if (phase == JobPhase::kGathering) {
      job.Wait(seconds(3));
      job.AllStop();
    }
    ASSERT_EQ(job.phase(), phase);
    job.Reconnect("e");
    for (int i = 0; i < 2; ++i) job.AllStop();
    job.Wait(seconds(1));
    ASSERT_EQ(job.phase(), JobPhase::kFinished);
    EXPECT_EQ(job.status().verdict->outcome, Outcome::kCancelled);
    EXPECT_THAT(job.status().verdict->reason, HasSubstr("enough"));
  }
}

// Only node e knows that the job was cancelled. The next coordinator does not
// meet e, stops the round for another reason, and is lost, too.
TEST(JobTakeoverTest, ACancelCountsMoreThanALaterEnd) {
  JobFixture job = JobFixture::HostedBy("a", QuickSpec(3, 5));
  job.StartAll({"a", "b", "c", "d", "e"});
  for (const char* name : {"b", "c", "d"}) job.agent(name).deaf = true;
  job.Step(CancelAsked{"enough"});
  for (const char* name : {"b", "c", "d"}) job.agent(name).deaf = false;
  job.TakeOver("b");
  job.ReconnectAll({"b", "c", "d"});
  job.Wait(seconds(3));
  ASSERT_EQ(job.phase(), JobPhase::kStopping);
  for (const char* name : {"c", "d", "e"}) {
    job.agent(name).report.phase = NodePhase::kIdle;
  }
  ASSERT_GT(job.agent("c").report.round_end->epoch,
            job.agent("e").report.round_end->epoch);
  job.TakeOver("c");
  job.ReconnectAll({"c", "d", "e"});
  job.Wait(seconds(6));
  ASSERT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kCancelled);
}

// Only node e knows that the job was cancelled. All other agents were started
// again and do not know round 1. The next coordinator was elected without e, so
// it has given round 1 up. The cancel must end the job nevertheless.
TEST(JobTakeoverTest, ACancelOfAVoidRoundCounts) {
  for (const bool is_cancelled : {true, false}) {
    JobFixture job = JobFixture::HostedBy("a", QuickSpec(4, 5));
    job.StartAll({"a", "b", "c", "d", "e"});
    for (const char* name : {"b", "c", "d"}) job.agent(name).deaf = true;
    if (is_cancelled) {
      job.Step(CancelAsked{"enough"});
    } else {
      job.Fails("a", ExitedWith(0, 1));
    }
    job.TakeOver("b");
    for (const char* name : {"b", "c", "d"}) {
      job.agent(name).deaf = false;
      job.Restart(name);
    }
    job.agent("e").report.phase = NodePhase::kIdle;
    job.Reconnect("e");
    job.Wait(seconds(12));
    EXPECT_THAT(job.Decided("adopt"), HasSubstr("none of its nodes came"));
    EXPECT_EQ(job.phase() == JobPhase::kFinished, is_cancelled);
    EXPECT_EQ(job.Count("assign"), is_cancelled ? 1 : 2);
  }
}

// Only node e knows that the job was cancelled in round 1. But node d has a
// place in round 2. So the job went on after round 1, and the cancel of round 1
// does not count.
TEST(JobTakeoverTest, ACancelOfAVoidRoundIsIgnoredIfTheJobWentOn) {
  for (const bool comes_first : {true, false}) {
    JobFixture job = JobFixture::HostedBy("a", QuickSpec(4, 5));
    job.StartAll({"a", "b", "c", "d", "e"});
    for (const char* name : {"b", "c", "d"}) job.agent(name).deaf = true;
    job.Step(CancelAsked{"enough"});
    job.TakeOver("b");
    for (const char* name : {"b", "c"}) {
      job.agent(name).deaf = false;
      job.Restart(name);
    }
    for (const char* name : {"d", "e"}) {
      job.agent(name).deaf = false;
      job.agent(name).report.phase = NodePhase::kIdle;
    }
    Report& newer = job.agent("d").report;
    newer.round = newer.place->round = 2;
    if (comes_first) job.Reconnect("d");
    job.Reconnect("e");
    if (!comes_first) job.Reconnect("d");
    job.Wait(seconds(12));
    EXPECT_EQ(job.Count("assign"), 2) << comes_first;
  }
}

// Only node e knows that the job was cancelled, and connects only after the
// next coordinator has begun round 2. The job goes on: its user may cancel it
// again.
TEST(JobTakeoverTest, ACancelOfAnEarlierRoundDoesNotEndALaterOne) {
  JobFixture job = JobFixture::HostedBy("a", QuickSpec(3, 4));
  job.StartAll({"b", "c", "d", "e"});
  for (const char* name : {"b", "c", "d"}) job.agent(name).deaf = true;
  job.Step(CancelAsked{"enough"});
  for (const char* name : {"b", "c", "d"}) {
    job.agent(name).report.phase = NodePhase::kIdle;
    job.agent(name).deaf = false;
  }
  job.TakeOver("b");
  job.ReconnectAll({"b", "c", "d"});
  job.AllStop();
  job.Wait(seconds(7));
  ASSERT_EQ(job.round(), 2);
  job.Reconnect("e");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

// The first coordinator is cut off from all nodes but e. A worker of e fails,
// so this coordinator orders a restart. It did so only after the other nodes
// had elected another coordinator, so the restart is not counted.
TEST(JobTakeoverTest, AnEarlierCoordinatorsOrderMayComeTooLate) {
  JobSpec spec = QuickSpec(4, 5);
  spec.max_restarts = 1;
  JobFixture job = JobFixture::HostedBy("a", spec);
  job.StartAll({"a", "b", "c", "d", "e"});
  for (const char* name : {"b", "c", "d"}) job.agent(name).deaf = true;
  job.Fails("e", ExitedWith(8, 1));
  for (const char* name : {"b", "c", "d"}) job.agent(name).deaf = false;
  job.TakeOver("b");
  job.ReconnectAll({"b", "c", "d"});
  job.Wait(seconds(3));
  ASSERT_EQ(job.phase(), JobPhase::kStopping);
  job.agent("e").report.failures.clear();
  job.agent("e").report.phase = NodePhase::kIdle;
  job.Reconnect("e");
  EXPECT_EQ(job.status().restarts_used, 0);
  EXPECT_THAT(job.told("b").reason, HasSubstr("(a) is lost"));
}

// Only node e knows that the job was cancelled. The second coordinator does not
// meet e, and is lost, too. The third coordinator meets e, and two nodes (c and
// d) that obeyed the second one. Nodes c and d know only the stop order from
// before the cancel.
TEST(JobTakeoverTest, TheNewestEndCountsWhoeverReportsIt) {
  JobSpec spec = QuickSpec(4, 5);
  spec.max_restarts = 1;
  JobFixture job = JobFixture::HostedBy("a", spec);
  job.StartAll({"a", "b", "c", "d", "e"});
  job.Fails("e", ExitedWith(8, 1));
  for (const char* name : {"b", "c", "d"}) job.agent(name).deaf = true;
  job.Step(CancelAsked{"enough"});
  for (const char* name : {"b", "c", "d", "e"}) {
    job.agent(name).report.phase = NodePhase::kIdle;
    job.agent(name).deaf = false;
  }
  job.TakeOver("b");
  job.ReconnectAll({"b", "c", "d"});
  ASSERT_EQ(job.phase(), JobPhase::kGathering);
  ASSERT_GT(job.agent("c").report.electorate.epoch,
            job.agent("e").report.electorate.epoch);
  job.TakeOver("c");
  job.ReconnectAll({"c", "d", "e"});
  job.AllStop();
  job.Wait(seconds(6));
  ASSERT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kCancelled);
}

// An earlier coordinator ended the job with round 1. Of the nodes of round 1
// only b connects, so the job may have gone on under another coordinator. A
// failure therefore becomes a time-out. A success stays a success. A cancelled
// job ends as cancelled after the time of a lease.
TEST(JobTakeoverTest, AnEndWithoutAMajorityKeepsItsOutcomeUnlessItIsAFailure) {
  const JobSpec spec = QuickSpec(2, 3);
  for (const int exit_code : {0, 3, 143}) {
    JobFixture job = JobThatIsOver(Takeover::kMajority);
    RoundEnd& end = *job.agent("b").report.round_end;
    end.exit_code = exit_code;
    end.cancelled = exit_code == 143;
    job.Reconnect("b");
    job.Join("d");
    job.Wait(spec.lease() + seconds(1));
    if (exit_code != 143) {
      EXPECT_EQ(job.phase(), JobPhase::kGathering);
      job.Wait(spec.join_timeout);
    }
    ASSERT_EQ(job.phase(), JobPhase::kFinished);
    EXPECT_EQ(job.status().verdict->outcome,
              exit_code == 0     ? Outcome::kSucceeded
              : exit_code == 143 ? Outcome::kCancelled
                                 : Outcome::kTimedOut);
    EXPECT_EQ(job.status().verdict->exit_code, exit_code);
  }
}

// No world has begun on all of its nodes. Node b knows that the job has ended.
TEST(JobTakeoverTest, AnEndOfAFirstWorldThatHasNotBegunCounts) {
  JobSpec spec = QuickSpec(2, 3);
  spec.max_restarts = 0;
  JobFixture job = JobFixture::HostedBy("a", spec);
  for (const char* name : {"a", "b", "c"}) job.Join(name);
  job.Runs("b");
  job.Fails("b", ExitedWith(1, 3));
  job.Idle("b");
  job.TakeOver("b");
  job.Reconnect("b");
  for (const char* name : {"a", "c"}) job.Restart(name);
  EXPECT_THAT(job.Decided("adopt"), HasSubstr("the job had ended with it"));
}

// Node b, which knows that an earlier coordinator has ended the job with round
// 1, is lost before the new coordinator gives round 1 up. The job must end with
// the exit code that b has reported.
TEST(JobTakeoverTest, ANodeThatIsLostAgainMayKnowTheEnd) {
  JobFixture job = JobThatIsOver(Takeover::kAuto);
  job.agent("c").report.phase = NodePhase::kIdle;
  job.ReconnectAll({"c"});
  job.Reconnect("b");
  job.Lose("b");
  for (const char* name : {"a", "b"}) job.Restart(name);
  for (const char* name : {"a", "b", "c"}) job.Report(name);
  ASSERT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.status().verdict->exit_code, 3);
}

// Node b knows that the job ended with round 1. Then node c reports round 2, so
// the job went on after round 1, and node c is lost. The verdict that follows
// must not name the cause of the end of round 1.
TEST(JobTakeoverTest, TheCauseOfASupersededEndIsForgotten) {
  JobFixture job = JobThatIsOver(Takeover::kMajority);
  job.Reconnect("b");
  job.Join("d");
  job.Wait(seconds(6));
  job.Report("b");
  Report& report = job.agent("c").report;
  report.round = report.place->round = 2;
  report.phase = NodePhase::kRunning;
  job.Reconnect("c");
  job.Lose("c");
  job.Wait(QuickSpec(2, 3).join_timeout);
  ASSERT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kTimedOut);
  EXPECT_FALSE(job.status().verdict->cause.has_value());
}

TEST(JobTakeoverTest, AJobThatIsOverEndsOnceNoWorkersAreLeft) {
  JobFixture job = JobThatIsOver(Takeover::kAuto);
  job.agent("b").report.phase = NodePhase::kStopping;
  job.Reconnect("b");
  for (const char* name : {"a", "c"}) job.Restart(name);
  for (const char* name : {"a", "c"}) job.Report(name);
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  // Node b keeps the stop order with exit code 3, and reports this order to the
  // next coordinator if the present coordinator is lost as well.
  EXPECT_EQ(job.told("b").stop.exit_code, 3);
  EXPECT_THAT(job.told("b").reason, HasSubstr("exit code 3"));
  job.Idle("b");
  EXPECT_EQ(job.phase(), JobPhase::kFinished);
}

// The workers of b cannot be stopped.
TEST(JobTakeoverTest, AJobThatIsOverDoesNotAwaitWorkersForEver) {
  JobFixture job = JobThatIsOver(Takeover::kAuto);
  job.agent("b").report.phase = NodePhase::kStopping;
  job.Reconnect("b");
  for (const char* name : {"a", "c"}) job.Restart(name);
  job.Wait(QuickSpec(2, 3).join_timeout + seconds(1));
  ASSERT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.status().verdict->outcome, Outcome::kFailed);
  EXPECT_EQ(job.status().verdict->exit_code, 3);
}

// Node b, which knows the end of round 1, comes only after the round was given
// up. Node a still has workers and does not know the end, but reports a failure
// that is a consequence of the failure on node b.
TEST(JobTakeoverTest, TheEndOfARoundThatWasGivenUpMayComeLater) {
  JobFixture job = JobThatIsOver(Takeover::kAuto);
  job.agent("a").report.phase = NodePhase::kStopping;
  job.agent("a").report.round_end.reset();
  job.agent("a").report.failures = {ExitedWith(0, 1)};
  job.Reconnect("a");
  job.Wait(seconds(6));
  ASSERT_THAT(job.Decided("adopt"), HasSubstr("round 1 is given up"));
  EXPECT_EQ(job.told("a").stop.exit_code, std::nullopt);
  for (const char* name : {"d", "e"}) job.Join(name);
  job.Reconnect("b");
  for (const char* name : {"a", "b"}) job.Report(name);
  EXPECT_EQ(job.told("a").stop.exit_code, 3);
  // Node c reports a stop order that is older than node b's, so c's order must
  // not count.
  Report& older = job.agent("c").report;
  older.phase = NodePhase::kIdle;
  older.round_end = job.agent("b").report.round_end;
  older.round_end->exit_code = 4;
  older.round_end->revision -= 1;
  job.Reconnect("c");
  job.Idle("a");
  ASSERT_EQ(job.phase(), JobPhase::kFinished);
  EXPECT_EQ(job.status().verdict->exit_code, 3);
  // The failure on node a was reported first, but is not the one that b's order
  // names as the reason.
  ASSERT_TRUE(job.status().verdict->cause.has_value());
  EXPECT_EQ(job.status().verdict->cause->node_id, "b");
}

// Node b reports that the job ended with round 1. But of the three nodes of
// round 1, only b is connected. The nodes a and c may have continued the job
// under another coordinator, so the job must not end at once. If `has_gone_on`,
// node c then reports that it was in round 2, and the job goes on.
TEST(JobTakeoverTest, AJobThatMayHaveGoneOnIsNotOver) {
  for (const bool has_gone_on : {false, true}) {
    JobFixture job = JobThatIsOver(Takeover::kMajority);
    job.Reconnect("b");
    job.Join("d");
    job.Wait(seconds(6));
    ASSERT_THAT(job.Decided("adopt"), HasSubstr("the job had ended with it"));
    job.Report("b");
    EXPECT_THAT(job.told("b").reason,
                HasSubstr("exit code 3), but only 1 of the 3 nodes of round 1 "
                          "are here: it may have gone on elsewhere"));
    if (has_gone_on) {
      Report& report = job.agent("c").report;
      report.round = report.place->round = 2;
      report.phase = NodePhase::kIdle;
      job.Reconnect("c");
      job.Report("c");
      EXPECT_EQ(job.phase(), JobPhase::kRunning);
      continue;
    }
    job.Wait(QuickSpec(2, 3).join_timeout);
    ASSERT_EQ(job.phase(), JobPhase::kFinished);
    EXPECT_EQ(job.status().verdict->outcome, Outcome::kTimedOut);
    EXPECT_EQ(job.status().verdict->exit_code, 3);
    EXPECT_THAT(job.status().verdict->reason,
                HasSubstr("exit code 3; only 1 of the 3 nodes of round 1"));
  }
}

// Node a reports that its coordinator has ended the job with round 1. Node c
// reports a newer coordinator, so the job does not count as ended. If
// `is_told`, c also reports that the newer coordinator has ended round 1 but
// not the job. The other nodes were started again.
TEST(JobTakeoverTest, TheEndOfAnOlderCoordinatorDoesNotCount) {
  for (const bool is_told : {false, true}) {
    JobSpec spec = QuickSpec(3, 5);
    spec.takeover = Takeover::kAuto;
    JobFixture job = JobFixture::HostedBy("a", spec);
    job.StartAll({"a", "b", "c", "d", "e"});
    for (const char* name : {"a", "c"}) {
      job.agent(name).report.phase = NodePhase::kIdle;
    }
    Report& report = job.agent("c").report;
    job.agent("a").report.round_end = RoundEnd{.exit_code = 3,
                                               .reason = "a",
                                               .epoch = report.electorate.epoch,
                                               .revision = 9};
    report.electorate.epoch += kDrawnEpochMask + 1;
    if (is_told) {
      report.round_end =
          RoundEnd{.reason = "c", .epoch = report.electorate.epoch};
    }
    job.TakeOver("c");
    job.ReconnectAll({"a", "c"});
    for (const char* name : {"b", "d", "e"}) job.Restart(name);
    EXPECT_THAT(job.Decided("adopt"), EndsWith("are among the 5 nodes here"));
    // Node a's later reports repeat that the job ended with round 1. They must
    // not end the job either.
    for (const char* name : {"a", "b", "c", "d", "e"}) job.Report(name);
    EXPECT_NE(job.phase(), JobPhase::kFinished);
  }
}

// Node b reports that the job ended with round 1. Node c reports round 2, and
// is lost before round 1 is given up. Nevertheless the job must not count as
// ended.
TEST(JobTakeoverTest, ANodeThatIsLostAgainMayKnowThatTheJobWentOn) {
  JobFixture job = JobThatIsOver(Takeover::kAuto);
  Report& report = job.agent("c").report;
  report.round = report.place->round = 2;
  report.round_end.reset();
  job.ReconnectAll({"b", "c"});
  job.Lose("c");
  for (const char* name : {"a", "c"}) job.Restart(name);
  EXPECT_THAT(job.Decided("adopt"), HasSubstr("round 1 is given up"));
  EXPECT_THAT(job.Decided("adopt"), EndsWith("are among the 3 nodes here"));
}

// The wait for a majority ends at its deadline, although no report arrives
// then.
TEST(JobTakeoverTest, ACancelWithoutAMajorityHasADeadline) {
  JobFixture job = JobThatIsOver(Takeover::kMajority);
  job.agent("b").report.round_end->exit_code = 143;
  job.agent("b").report.round_end->cancelled = true;
  job.Reconnect("b");
  for (const char* name : {"a", "c"}) job.Restart(name);
  job.Wait(seconds(2));
  for (const char* name : {"a", "b", "c"}) job.agent(name).silent = true;
  // The coordinator is suspended for a lease. Meanwhile the nodes may have gone
  // to another coordinator, so the job must not end at once.
  job.StandStill(QuickSpec(2, 3).lease());
  job.Report("b");
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Wait(QuickSpec(2, 3).lease());
  EXPECT_EQ(job.phase(), JobPhase::kFinished);
}

TEST(AdoptionTest, TheEndThatCountsIsTheNewestOfTheWorldOrACancel) {
  Report report;
  report.place = Place{};
  report.place->round = 2;
  std::vector<Report> reports(4, report);
  reports[0].round_end = RoundEnd{.epoch = 1, .revision = 9};
  reports[1].round_end = RoundEnd{.epoch = 2, .revision = 5};
  reports[2].round_end = RoundEnd{.epoch = 2, .revision = 4};
  reports[3].round_end = RoundEnd{.epoch = 3, .revision = 1};
  reports[3].place->round = 1;
  const std::vector<const Report*> all = {&reports[0], &reports[1], &reports[2],
                                          &reports[3], &report};
  const WorldId world = IdOf(*report.place);
  EXPECT_EQ(EndThatCounts(world, all), &reports[1]);
  EXPECT_EQ(EndThatCounts(world, {&reports[3], &report}), nullptr);
  // A coordinator tells all electors how a round has ended, also an elector
  // that has a place only in an older world.
  reports[3].round_end->round = 2;
  EXPECT_EQ(EndThatCounts(world, all), &reports[3]);
  const WorldId newer = {.epoch = 4, .round = 2};
  EXPECT_FALSE(TellsEndOf(newer, reports[3])) << "of an older coordinator";
  reports[3].place->round = 3;
  EXPECT_FALSE(TellsEndOf(world, reports[3])) << "of a newer world";
  // An older stop order by which a user cancelled the job takes precedence over
  // a newer stop order, unless the newer one has ended the job as well.
  reports[0].round_end->cancelled = true;
  EXPECT_EQ(EndThatCounts(world, all), &reports[0]);
  EXPECT_TRUE(Replaces(*reports[0].round_end, *reports[1].round_end));
  reports[1].round_end->exit_code = 3;
  EXPECT_EQ(EndThatCounts(world, all), &reports[1]);
  EXPECT_FALSE(Replaces(*reports[0].round_end, *reports[1].round_end));
}

TEST(AdoptionTest, TheMembersAreThoseOfTheNewestRound) {
  Report report;
  report.node.node_id = "a";
  report.place = Place{
      .round = 1, .epoch = 5, .group_world_size = 2, .members = {"a", "c"}};
  Adoption adoption;
  adoption.Begin(Instant());
  adoption.Decide(Instant());
  EXPECT_THAT(adoption.progress().members, IsEmpty());
  adoption.Hear(report);
  report.node.node_id = "b";
  report.place->round = 2;
  report.place->members = {"b", "d"};
  adoption.Hear(report);
  adoption.Decide(Instant());
  EXPECT_THAT(adoption.progress().members, ElementsAre("b", "d"));
}

// The world has 9 nodes, so the reports of 5 nodes complete a majority.
TEST(AdoptionTest, IsDueWithTheReportThatCompletesAMajority) {
  const Instant begin{seconds(1)};
  Report report;
  report.place = Place{.round = 1, .epoch = 5, .group_world_size = 9};
  Adoption adoption;
  adoption.Begin(begin + seconds(5));
  const auto come = [&](int rank) {
    report.node.node_id = absl::StrCat("n", rank);
    report.place->group_rank = rank;
    adoption.Hear(report);
  };
  come(0);
  EXPECT_TRUE(adoption.IsDue(begin)) << "the size of the world is unknown";
  EXPECT_EQ(adoption.Decide(begin), Adoption::Decision::kWait);
  EXPECT_EQ(adoption.NextDeadline(), begin + seconds(5));
  for (const int rank : {1, 2, 3}) come(rank);
  EXPECT_FALSE(adoption.IsDue(begin));
  EXPECT_EQ(adoption.NextDeadline(), begin + Recount::kInterval);
  EXPECT_TRUE(adoption.IsDue(begin + Recount::kInterval));
  EXPECT_TRUE(adoption.IsDue(begin + seconds(5)));
  come(4);
  EXPECT_TRUE(adoption.IsDue(begin));
  EXPECT_EQ(adoption.Decide(begin), Adoption::Decision::kAdopt);
  adoption.Forget("n4");
  EXPECT_TRUE(adoption.IsDue(begin)) << "a node is lost";
}

// Node c is lost, so round 2 has only the nodes a and b. Both connect to a new
// coordinator, but the agent of a was started again, so the round cannot
// continue. The coordinator must give it up at once, without waiting for c.
TEST(JobTakeoverTest, ARoundIsGivenUpAtOnceIfItsMembersWereStartedAgain) {
  JobFixture job = RunningJob(2, 3);
  job.Lose("c");
  job.AllStop();
  for (const char* name : {"a", "b"}) job.Runs(name);
  ASSERT_EQ(job.round(), 2);
  for (const char* name : {"a", "b"}) job.Report(name);
  job.TakeOver("a");
  job.Reconnect("b");
  EXPECT_EQ(job.kind("b"), DirectiveKind::kHold);
  job.Restart("a");
  EXPECT_THAT(job.Decided("adopt"), HasSubstr("round 2 is given up"));
  job.AllStop();
  // The next round begins without the last call (the wait for more nodes),
  // because no further node is expected.
  job.Report("a");
  EXPECT_EQ(job.round(), 3);
  EXPECT_THAT(job.World(), ElementsAre("a", "b"));
}

TEST(JobTakeoverTest, ARoundIsNotGivenUpAtOnceIfAMemberIsMissing) {
  JobFixture job = RunningJob(2, 4);
  job.TakeOver("a");
  job.Reconnect("b");
  job.Restart("a");
  EXPECT_EQ(job.Count("adopt"), 0);
}

TEST(JobTakeoverTest, AReportFromBeforeTheElectionGivesNoPlace) {
  JobFixture job = RunningJob(3, 3);
  job.TakeOver("b");
  job.Reconnect("b");
  // The restarted agents have not promised to obey this coordinator. Until they
  // have, each of them may run a round of another coordinator, so this
  // coordinator begins none.
  for (const char* name : {"a", "c"}) job.Restart(name);
  job.AllStop();
  EXPECT_EQ(job.round(), 0);
  job.Report("a");  // node a has seen a directive of this coordinator
  EXPECT_EQ(job.round(), 0);
  job.Report("c");
  EXPECT_EQ(job.round(), 2);
}

TEST(JobTakeoverTest, NodesThatHaveMetAStandbyMayBeAllNodesAsWell) {
  JobFixture job = RunningJob(3, 3);
  job.TakeOver("b");
  job.Reconnect("b");
  for (const char* name : {"a", "c"}) {
    EXPECT_EQ(job.kind("b"), DirectiveKind::kHold);
    job.Create(name).report.promised_epoch = 1;
    job.Reconnect(name);
  }
  EXPECT_THAT(job.Decided("adopt"), HasSubstr("is given up"));
}

TEST(JobTakeoverTest, NodesThatHaveLeftAreNotAwaited) {
  JobFixture job = RunningJob(1, 3);
  for (const char* name : {"b", "c"}) {
    job.agent(name).report.leave = "SIGTERM";
    job.Report(name);
  }
  job.AllStop();
  for (const char* name : {"b", "c"}) job.BreakStream(name);
  job.Wait(seconds(2));
  EXPECT_EQ(job.round(), 2);
  EXPECT_THAT(job.World(), ElementsAre("a"));
}

// Nodes b, c and d leave. Then b and c are started again, and connect to this
// coordinator, which is on node a. With Takeover::kAuto, the nodes that left
// may meanwhile have begun a world under another coordinator, together with
// nodes that are not connected here. So no world begins here. With kMajority a
// world begins.
TEST(JobTakeoverTest, NodesThatHaveLeftMayHaveBegunAWorldElsewhere) {
  for (const Takeover takeover : {Takeover::kAuto, Takeover::kMajority}) {
    JobSpec spec = QuickSpec(3, 8);
    spec.takeover = takeover;
    JobFixture job = AfterLastCall(spec, {"a", "b", "c", "d"});
    for (const char* name : {"b", "c", "d"}) {
      job.agent(name).report.leave = "SIGTERM";
      job.Report(name);
    }
    job.AllStop();
    for (const char* name : {"b", "c", "d"}) job.BreakStream(name);
    for (const char* name : {"b", "c"}) job.Restart(name);
    job.Wait(seconds(2));
    EXPECT_EQ(job.phase() == JobPhase::kRunning,
              takeover == Takeover::kMajority);
    EXPECT_EQ(job.job().MayAsk(), takeover == Takeover::kAuto);
  }
}

TEST(JobTakeoverTest, ANodeThatLeavesIsAwaitedUntilItsWorkersHaveStopped) {
  JobSpec spec = QuickSpec(1, 2);
  spec.takeover = Takeover::kMajority;
  JobFixture job = AfterLastCall(spec, {"a"});
  job.Lose("a");
  job.Join("b");
  job.Reconnect("a");
  // Node a is the only node of round 1, and leaves while its workers still run.
  // No new round may begin before they have ended.
  job.agent("a").report.leave = "SIGTERM";
  job.Stopping("a");
  job.Wait(seconds(5));
  EXPECT_EQ(job.kind("a"), DirectiveKind::kStop);
  EXPECT_EQ(job.round(), 1);
  job.Idle("a");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kReleased);
  job.Wait(seconds(5));
  EXPECT_EQ(job.round(), 2);
  EXPECT_THAT(job.World(), ElementsAre("b"));
}

TEST(JobTakeoverTest, ANodeThatIsGoneIsCountedOnce) {
  JobFixture job = JobFixture::HostedBy("a", QuickSpec(1, 5));
  job.StartAll({"a", "b", "c", "d", "e"});
  job.agent("b").report.leave = "SIGTERM";
  job.Report("b");
  // Node b leaves but receives no further directive. So its reports still name
  // it as an elector (a node that elects the coordinator). It must count only
  // once, as an elector that has left, and not also as a connected one.
  job.agent("b").deaf = true;
  for (const char* name : {"c", "d", "e"}) job.Lose(name);
  job.AllStop();
  job.Report("b");
  job.Wait(seconds(20));
  // A new world needs half of the five electors. Only two count: a, which is
  // connected, and b, which has left. So no new world forms.
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
}

TEST(JobTakeoverTest, AnElectorMayComeAfterItsRoundIsOver) {
  JobSpec spec = QuickSpec(1, 4);
  spec.takeover = Takeover::kMajority;
  JobFixture job = JobFixture::HostedBy("a", spec);
  job.StartAll({"a", "b", "c", "d"});
  job.TakeOver("b");
  job.FailsUnreported("b", ExitedWith(2, 3), NodePhase::kIdle);
  // Nodes b, c and d are a majority, so their round is adopted, and b's failure
  // stops it at once. Node a reports later and must still become an elector.
  job.ReconnectAll({"b", "c", "d"});
  ASSERT_EQ(job.phase(), JobPhase::kStopping);
  job.Reconnect("a");
  EXPECT_EQ(job.told("a").electorate.rank, 0);
  job.BreakStream("c");
  job.Lose("d");
  job.AllStop();
  job.Wait(seconds(10));
  EXPECT_EQ(job.round(), 2) << "a and b are half of the electors";
}

TEST(JobTakeoverTest, AnotherExitCodeIsANewOrder) {
  // Draining node c stops the round with an order without an exit code. The
  // cancel that follows sets an exit code, so the nodes must get a new order.
  JobSpec spec = QuickSpec(1, 3);
  spec.max_restarts = 0;
  JobFixture job = JobFixture::HostedBy("a", spec);
  job.StartAll({"a", "b", "c"});
  job.Step(DrainAsked{.node = "c"});
  const uint64_t revision = job.told("a").revision;
  ASSERT_EQ(job.told("a").stop.exit_code, std::nullopt);
  job.Step(CancelAsked{.reason = "launch cancel"});
  job.Idle("a");
  EXPECT_GT(job.told("a").revision, revision);
  EXPECT_NE(job.told("a").stop.exit_code, std::nullopt);
}

TEST(JobTakeoverTest, AVerdictWaitsForAFirstWorldThatMayHaveBegun) {
  // Only node a has reported that it runs round 1, so the world of round 1 may
  // not have begun on all of its nodes. A worker's failure ends the job. The
  // job must not finish until half of the nodes of round 1 know the verdict.
  JobSpec spec = QuickSpec(1, 3);
  spec.max_restarts = 0;
  JobFixture job = JobFixture::HostedBy("a", spec);
  for (const char* name : {"a", "b", "c"}) job.Join(name);
  job.Runs("a");
  for (const char* name : {"b", "c"}) job.agent(name).deaf = true;
  Failure failure = ExitedWith(0, 3);
  failure.kind = FailureKind::kStartFailed;
  job.Fails("a", failure);
  job.Idle("a");
  for (const char* name : {"b", "c"}) job.BreakStream(name);
  job.Wait(seconds(10));
  EXPECT_EQ(job.phase(), JobPhase::kStopping);
  job.agent("b").deaf = false;
  job.Reconnect("b");
  EXPECT_NE(job.told("b").stop.exit_code, std::nullopt);
  job.Report("b");
  EXPECT_EQ(job.phase(), JobPhase::kFinished);
}

TEST(JobTakeoverTest, NodesThatWereDrainedAreNotAwaited) {
  JobFixture job = RunningJob(1, 3);
  for (const char* name : {"b", "c"}) {
    job.Step(DrainAsked{.node = name});
    job.AllStop();
    // The drained node gets the directive kReleased (leave the job), reports
    // that it has seen the directive, and disconnects.
    job.Report(name);
    ASSERT_EQ(job.kind(name), DirectiveKind::kReleased);
    job.Report(name);
    job.BreakStream(name);
  }
  job.Wait(seconds(2));
  EXPECT_EQ(job.World().size(), 1u);
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

// The job of node a runs round 1 with a, b, c and d. Then the connections of
// `broken` break.
JobFixture BrokenConnections(const std::vector<std::string>& broken) {
  JobSpec spec = QuickSpec(3, 4);
  spec.max_restarts = 3;
  JobFixture job = JobFixture::HostedBy("a", spec);
  job.StartAll({"a", "b", "c", "d"});
  for (const char* name : {"a", "b", "c", "d"}) job.Report(name);
  for (const std::string& name : broken) job.BreakStream(name);
  return job;
}

// The coordinator's machine was cut off. The others have elected another
// coordinator, with which the round goes on.
TEST(JobTakeoverTest, ACoordinatorWithoutAMajorityBreaksNoRound) {
  JobFixture job = BrokenConnections({"b", "c", "d"});
  job.Wait(seconds(2));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_EQ(job.kind("a"), DirectiveKind::kRun);
  job.Step(CoordinatorTold{.epoch = job.job().epoch() + 1});
  EXPECT_TRUE(job.last_step().deposed);
  EXPECT_EQ(job.kind("a"), DirectiveKind::kRun);
}

// The same if the coordinator was elected itself.
TEST(JobTakeoverTest, AnElectedCoordinatorWithoutConnectionsYieldsAtOnce) {
  JobFixture job = BrokenConnections({});
  job.TakeOver("b");
  job.ReconnectAll({"b", "c", "d"});
  ASSERT_EQ(job.phase(), JobPhase::kRunning);
  const CoordinatorTold newer{.epoch = job.job().epoch() + 1};
  job.Step(newer);
  EXPECT_FALSE(job.last_step().deposed);
  for (const char* name : {"c", "d"}) job.BreakStream(name);
  job.Step(newer);
  EXPECT_TRUE(job.last_step().deposed);
}

TEST(JobTakeoverTest, WithoutAnAnnouncementTheNodesAreLost) {
  JobFixture job = BrokenConnections({"b", "c", "d"});
  const JobSpec spec = QuickSpec(3, 4);
  EXPECT_EQ(job.WaitFor("break", seconds(10)), TimeToLearn(spec));
  EXPECT_THAT(job.Decided("break"), HasSubstr("did not come back within 3 s"));
}

TEST(JobTakeoverTest, WithHalfOfTheElectorsALossIsNoticedAtOnce) {
  JobFixture job = BrokenConnections({"c", "d"});
  EXPECT_EQ(job.WaitFor("break", seconds(10)), QuickSpec(3, 4).reconnect_grace);
  EXPECT_THAT(job.Decided("break"),
              HasSubstr("did not come back within 0.5 s"));
}

// The worker of node a fails because its peers are lost.
TEST(JobTakeoverTest, AFailureOfTheWorkerThatIsLeftIsNotTheCause) {
  JobFixture job = BrokenConnections({"b", "c", "d"});
  job.Wait(seconds(1));
  ASSERT_EQ(job.Count("lost"), 0);
  Failure failure = ExitedWith(0, 1);
  failure.message = "Connection reset by peer";
  job.Fails("a", failure);
  job.Wait(milliseconds(1));
  EXPECT_EQ(job.Count("lost"), 3);
  EXPECT_THAT(job.Decided("blame"), HasSubstr("not by rank 0"));
}

// The coordinator on node a names the standbys b, c and d, and node e.
JobFixture JobOfFive() {
  JobSpec spec = QuickSpec(2, 5);
  JobFixture job = JobFixture::HostedBy("a", spec);
  job.StartAll({"a", "b", "c", "d", "e"});
  return job;
}

TEST(HandoverTest, OnlyTheStandbysGetIt) {
  JobFixture job = JobOfFive();
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    const bool is_standby = *name != 'a' && *name != 'e';
    EXPECT_EQ(job.told(name).handover.has_value(), is_standby) << name;
  }
}

TEST(HandoverTest, AChangeIsToldAtOnceWithTheSameRevision) {
  JobFixture job = JobOfFive();
  const uint64_t revision = job.told("b").revision;
  HostsJudged judged;
  job.Step(judged);
  EXPECT_EQ(job.told("b").handover->machines, "");
  judged.machines = std::make_shared<std::string>("memory");
  job.Step(judged);
  for (const char* name : {"b", "c", "d"}) {
    EXPECT_EQ(job.told(name).handover->machines, "memory") << name;
  }
  EXPECT_EQ(job.told("b").revision, revision);
  EXPECT_EQ(job.Step(judged).deliveries.size(), 3u);
}

// A spare leaves at its own request. No other node needs an order because of
// this, so a standby gets the handover in the answer to its next report.
TEST(HandoverTest, AnAnswerContainsAChange) {
  JobFixture job = JobOfFive();
  job.Join("f");
  job.agent("f").report.leave = "SIGTERM";
  job.Report("f");
  EXPECT_THAT(job.told("b").handover->released, IsEmpty());
  job.Report("b");
  EXPECT_THAT(job.told("b").handover->released, SizeIs(1));
  job.Report("b");
  EXPECT_EQ(job.last_step().deliveries.size(), 0u) << "it has the handover";
}

TEST(HandoverTest, ADrainIsToldAtOnce) {
  JobFixture job = JobOfFive();
  job.Join("f");
  job.Step(DrainAsked{"f"});
  ASSERT_THAT(job.told("b").handover->released, SizeIs(1));
  EXPECT_EQ(job.told("b").handover->released[0].node_id, "f");
}

TEST(HandoverTest, TheNewestReleasedAgentsAreKept) {
  Handover handover;
  for (size_t i = 0; i <= Handover::kMaxReleased; ++i) {
    handover.Release({.node_id = absl::StrCat("n", i), .incarnation = 1});
  }
  handover.Release({.node_id = "n5", .incarnation = 1});
  EXPECT_THAT(handover.released, SizeIs(Handover::kMaxReleased));
  EXPECT_EQ(handover.released.front().node_id, "n5");
  EXPECT_EQ(handover.released.back().node_id, "n1");
}

TEST(HandoverTest, TheNewestIncidentsAreKept) {
  Handover handover;
  const int rounds = static_cast<int>(kMaxIncidents) + 1;
  for (int round = 1; round <= rounds; ++round) {
    handover.Count({.round = round});
  }
  EXPECT_THAT(handover.incidents, SizeIs(kMaxIncidents));
  EXPECT_EQ(handover.incidents.front().round, 2);
  EXPECT_EQ(handover.incidents.back().round, rounds);
}

// A worker of node c has failed in round 1. In round 2 the coordinator's node
// is lost, and then that of its successor.
TEST(HandoverTest, TheSuccessorsKnowWhyRoundsEnded) {
  JobSpec spec = QuickSpec(2, 5);
  spec.max_restarts = 3;
  JobFixture job = JobFixture::HostedBy("a", spec);
  job.StartAll({"a", "b", "c", "d", "e"});
  job.Fails("c", ExitedWith(4, 1));
  job.AllStop();
  job.Wait(seconds(10));
  ASSERT_EQ(job.round(), 2);
  const std::string why = job.status().time.newest.at(0).why;
  for (const char* name : {"b", "c", "d", "e"}) job.Runs(name);
  for (const char* host : {"b", "c"}) {
    job.TakeOver(host);
    job.ReconnectAll({"c", "d", "e"});
    const JobTime time = job.status().time;
    ASSERT_FALSE(time.newest.empty());
    const Incident& first = time.newest.front();
    EXPECT_EQ(first.round, 1);
    EXPECT_EQ(first.cause, LossCause::kWorker);
    EXPECT_EQ(first.host, "c");
    EXPECT_EQ(first.why, why);
    EXPECT_EQ(time.by_cause[static_cast<size_t>(LossCause::kWorker)].incidents,
              1);
  }
}

// Node e is drained, and stops its workers, when the coordinator's node is
// lost.
TEST(HandoverTest, ADrainedNodeGetsNoPlaceFromTheSuccessor) {
  for (const bool knows_drain : {true, false}) {
    JobFixture job = JobOfFive();
    job.Step(DrainAsked{"e"});
    for (const char* name : {"b", "c", "d", "e"}) job.Stopping(name);
    if (!knows_drain) job.agent("b").told.handover.reset();
    job.TakeOver("b");
    job.ReconnectAll({"b", "c", "d", "e"});
    EXPECT_THAT(job.Decided("adopt"), HasSubstr("round 1 goes on"));
    EXPECT_EQ(job.Decided("adopt").find("earlier drains are not known") ==
                  std::string::npos,
              knows_drain);
    for (const char* name : {"b", "c", "d", "e"}) job.Idle(name);
    job.Wait(seconds(10));
    if (knows_drain) {
      EXPECT_THAT(job.World(), UnorderedElementsAre("b", "c", "d"));
      EXPECT_EQ(job.kind("e"), DirectiveKind::kReleased);
      EXPECT_EQ(job.told("e").reason,
                "drained before this coordinator took over");
      EXPECT_THAT(job.told("c").handover->released, SizeIs(1));
    } else {
      EXPECT_THAT(job.World(), SizeIs(4));
    }
    EXPECT_EQ(job.status().restarts_used, 0);
  }
}

// Node e is cut off while the coordinator changes twice.
TEST(HandoverTest, WhatWasHandedOverIsHandedOn) {
  JobFixture job = JobOfFive();
  job.Step(DrainAsked{"e"});
  for (const char* name : {"b", "c", "d"}) job.Stopping(name);
  job.TakeOver("b");
  job.ReconnectAll({"b", "c", "d"});
  ASSERT_TRUE(job.told("c").handover.has_value());
  ASSERT_THAT(job.told("c").handover->released, SizeIs(1));
  EXPECT_EQ(job.told("c").handover->released[0].node_id, "e");
}

// The order to stop has reached no node, so that the round still runs.
TEST(HandoverTest, ADrainedMemberOfARunningRoundBreaksIt) {
  JobFixture job = JobOfFive();
  Handover handover;
  handover.Release(
      {.node_id = "e", .incarnation = job.agent("e").report.node.incarnation});
  job.agent("b").told.handover = handover;
  job.TakeOver("b");
  job.ReconnectAll({"b", "c", "d", "e"});
  EXPECT_THAT(job.Decided("break"), HasSubstr("e (group rank 4) goes"));
  EXPECT_EQ(job.status().restarts_used, 0);
}

TEST(HandoverTest, ARestartedAgentOfADrainedNodeMayJoin) {
  JobFixture job = JobOfFive();
  job.Step(DrainAsked{"e"});
  for (const char* name : {"b", "c", "d", "e"}) job.Stopping(name);
  job.TakeOver("b");
  job.ReconnectAll({"b", "c", "d"});
  job.Restart("e");
  for (const char* name : {"b", "c", "d"}) job.Idle(name);
  job.Wait(seconds(10));
  EXPECT_THAT(job.World(), SizeIs(4));
}

}  // namespace
}  // namespace muster::rendezvous
