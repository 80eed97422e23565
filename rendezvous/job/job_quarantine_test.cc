// Tests of machines that are suspected, quarantined or banned: which nodes get
// a place in a world, and which failures count against a machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "rendezvous/job/job_fixture.h"

namespace muster::rendezvous {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Names = std::vector<std::string>;

JobSpec Restarting(int min_nodes, int max_nodes) {
  JobSpec spec = QuickSpec(min_nodes, max_nodes);
  spec.max_restarts = 100;
  return spec;
}

class JobQuarantine : public ::testing::Test {
 protected:
  void Begin(const JobSpec& spec, const Names& names) {
    job_.emplace(spec);
    for (const std::string& name : names) Create(name);
    job_->StartAll(names);
  }
  void Create(const std::string& name) {
    JobFixture::Agent& agent = job_->Create(name);
    agent.peer = KeyOf(name).ip;
    agent.report.node.slots = 2;
  }
  void Join(const std::string& name) {
    Create(name);
    job_->Join(name);
  }
  void Quarantine(const std::string& host, int faults = 3) {
    for (int i = 0; i < faults; ++i) {
      job_->memory().Record(job_->wall_time(), 4,
                            {.host = KeyOf(host),
                             .kind = FaultKind::kLost,
                             .run_id = "another job",
                             .text = "lost"});
    }
    job_->Judge();
  }
  // Ends the round by this failure of a worker of `name`. Returns once the next
  // world has formed.
  void FailRound(const std::string& name, const Failure& failure) {
    job_->Fails(name, failure);
    job_->AllStop();
    job_->Wait(seconds(40));
  }
  void RunAll(const Names& names) {
    for (const std::string& name : names) {
      if (job_->kind(name) == DirectiveKind::kRun) job_->Runs(name);
    }
  }
  HostState StateOf(const std::string& host) {
    const HostView view = job_->memory().View(job_->wall_time());
    const auto found = view.find(KeyOf(host));
    return found == view.end() ? HostState::kHealthy : found->second.state;
  }

  std::optional<JobFixture> job_;
};

TEST_F(JobQuarantine, ASpareTakesThePlaceOfASuspectedMachine) {
  Begin(Restarting(2, 2), {"a", "b"});
  Join("c");
  FailRound("b", KilledBy(2, SIGBUS));
  EXPECT_EQ(StateOf("b"), HostState::kSuspected);
  EXPECT_THAT(job_->Decided("suspect"), HasSubstr("b is suspected: rank 2"));
  EXPECT_EQ(job_->World(), (Names{"a", "c"}));
}

TEST_F(JobQuarantine, TheReasonShowsTheLineAboutTheHardware) {
  Begin(Restarting(2, 2), {"a", "b"});
  Failure failure = ExitedWith(2, 1);
  failure.message = "exit code 1";
  failure.stderr_tail = {"loading", "OSError: [Errno 5] Input/output error"};
  FailRound("b", failure);
  EXPECT_THAT(job_->Decided("suspect"),
              HasSubstr("b is suspected: rank 2: exit code 1, after \"OSError: "
                        "[Errno 5] Input/output error\""));
}

TEST_F(JobQuarantine, SeveralRanksThatDieOfSigbusQuarantineTheirMachine) {
  Begin(Restarting(2, 2), {"a", "b"});
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(StateOf("b"), HostState::kQuarantined);
    FailRound("b", KilledBy(2 + i % 2, SIGBUS));
    RunAll({"a", "b"});
  }
  EXPECT_EQ(StateOf("b"), HostState::kQuarantined);
  EXPECT_EQ(job_->World(), (Names{"a", "b"}));
  Join("c");
  FailRound("a", ExitedWith(0, 1));
  EXPECT_EQ(job_->World(), (Names{"a", "c"}));
}

TEST_F(JobQuarantine, AQuarantinedNodeIsASpareWhileOthersSuffice) {
  Begin(Restarting(2, 3), {"a", "b", "c"});
  Quarantine("b");
  EXPECT_THAT(job_->Decided("quarantine"),
              HasSubstr("b is quarantined: lost; score 3.0"));
  // The quarantine of b does not break the running round.
  EXPECT_EQ(job_->phase(), JobPhase::kRunning);
  EXPECT_EQ(job_->World(), (Names{"a", "b", "c"}));
  FailRound("a", ExitedWith(0, 1));
  EXPECT_EQ(job_->phase(), JobPhase::kRunning);
  EXPECT_EQ(job_->World(), (Names{"a", "c"}));
  EXPECT_EQ(job_->kind("b"), DirectiveKind::kWait);
  EXPECT_THAT(job_->told("b").reason,
              AllOf(HasSubstr("quarantined (lost"),
                    EndsWith("round 2 runs with 2 of up to 3 nodes")));
  // The world has room for one more node, and b is ready but quarantined. The
  // round must not be broken to let b in.
  RunAll({"a", "c"});
  job_->Wait(seconds(60));
  EXPECT_EQ(job_->phase(), JobPhase::kRunning);
  EXPECT_EQ(job_->round(), 2);
  Join("d");
  job_->Wait(seconds(10));
  job_->AllStop();
  EXPECT_EQ(job_->World(), (Names{"a", "c", "d"}));
}

TEST_F(JobQuarantine, AJobNeverFallsBelowItsMinimum) {
  Begin(Restarting(3, 3), {"a", "b", "c"});
  Quarantine("b");
  FailRound("a", ExitedWith(0, 1));
  EXPECT_EQ(job_->phase(), JobPhase::kRunning);
  EXPECT_EQ(job_->World(), (Names{"a", "b", "c"}));
  EXPECT_THAT(job_->Decided("quarantine"),
              HasSubstr("b takes part although it is quarantined"));
}

TEST_F(JobQuarantine, TheLeastBadFillsUp) {
  Begin(Restarting(2, 3), {"a", "b", "c"});
  job_->memory().Refresh(job_->wall_time(), 100);
  for (const char* const host : {"b", "c"}) {
    for (int i = 0; i < (host == std::string("b") ? 3 : 4); ++i) {
      job_->memory().Record(
          job_->wall_time(), 100,
          {.host = KeyOf(host), .kind = FaultKind::kLost, .text = "lost"});
    }
  }
  job_->Judge();
  FailRound("a", ExitedWith(0, 1));
  EXPECT_EQ(job_->World(), (Names{"a", "b"}));
}

TEST_F(JobQuarantine, ASuspectedNodeStaysWithoutABetterOne) {
  Begin(Restarting(1, 2), {"a", "b"});
  Quarantine("b", 1);
  ASSERT_EQ(StateOf("b"), HostState::kSuspected);
  FailRound("a", ExitedWith(0, 1));
  EXPECT_EQ(job_->World(), (Names{"a", "b"}));
  RunAll({"a", "b"});
  Join("c");
  FailRound("a", ExitedWith(0, 1));
  EXPECT_EQ(job_->World(), (Names{"a", "c"}));
}

TEST_F(JobQuarantine, ANodeThatJoinsIsJudgedAtOnce) {
  Begin(Restarting(1, 3), {"a"});
  Quarantine("b");
  Join("b");
  job_->Wait(seconds(60));
  EXPECT_EQ(job_->World(), (Names{"a"}));
  EXPECT_EQ(job_->round(), 1);
  // Machine b is quarantined. The agent of node c gives the same host name "b",
  // but has another address. So it is on another machine, which is not
  // quarantined.
  job_->Create("c").peer = "elsewhere";
  job_->agent("c").report.node.host = "b";
  job_->Join("c");
  job_->Wait(seconds(10));
  job_->AllStop();
  EXPECT_EQ(job_->World(), (Names{"a", "c"}));
}

TEST_F(JobQuarantine, TheFirstWorldForms) {
  job_.emplace(Restarting(2, 2));
  Create("a");
  Create("b");
  Quarantine("b");
  job_->StartAll({"a", "b"});
  EXPECT_EQ(job_->World(), (Names{"a", "b"}));
}

TEST_F(JobQuarantine, ABannedNodeNeverGetsAPlace) {
  Begin(Restarting(1, 2), {"a", "b"});
  ASSERT_TRUE(job_->memory().Ban(job_->wall_time(), "b", "broken fan").ok());
  job_->Judge();
  EXPECT_THAT(job_->Decided("ban"), HasSubstr("b is banned: broken fan"));
  FailRound("a", ExitedWith(0, 1));
  EXPECT_EQ(job_->World(), (Names{"a"}));
  EXPECT_THAT(job_->told("b").reason,
              EndsWith("is banned: broken fan (round 2 runs with 1 of up to 2 "
                       "nodes)"));
  ASSERT_TRUE(job_->memory().Free(job_->wall_time(), "b", "ada").ok());
  job_->Judge();
  EXPECT_THAT(job_->Decided("free"), HasSubstr("b is trusted again"));
  RunAll({"a"});
  job_->Wait(seconds(10));
  job_->AllStop();
  EXPECT_EQ(job_->World(), (Names{"a", "b"}));
}

TEST_F(JobQuarantine, AJobThatNeedsABannedNodeNamesIt) {
  Begin(Restarting(2, 2), {"a", "b"});
  ASSERT_TRUE(job_->memory().Ban(job_->wall_time(), "b", "broken fan").ok());
  job_->Judge();
  FailRound("a", ExitedWith(0, 1));
  EXPECT_EQ(job_->phase(), JobPhase::kGathering);
  EXPECT_THAT(job_->status().reason, HasSubstr("b (banned: broken fan)"));
}

TEST_F(JobQuarantine, ExceptionsCountAgainstNobody) {
  Begin(Restarting(2, 2), {"a", "b"});
  for (int i = 0; i < 5; ++i) {
    Failure failure = ExitedWith(0, 1);
    failure.message = "ValueError: no such key";
    FailRound("a", failure);
    RunAll({"a", "b"});
  }
  EXPECT_THAT(job_->memory().List(job_->wall_time()), IsEmpty());
}

TEST_F(JobQuarantine, TheFailureOfAWorkerCountsAgainstItsMachine) {
  Begin(Restarting(2, 2), {"a", "b"});
  job_->Fails("b", KilledBy(3, SIGBUS));
  EXPECT_THAT(job_->memory().List(job_->wall_time()), IsEmpty());
  job_->AllStop();
  const auto list = job_->memory().List(job_->wall_time());
  ASSERT_THAT(list, SizeIs(1));
  EXPECT_EQ(list[0].key, KeyOf("b"));
  EXPECT_THAT(list[0].judgement.reason, HasSubstr("rank 3: "));
}

TEST_F(JobQuarantine, TheFailureThatEndsTheJobCounts) {
  JobSpec spec = QuickSpec(2, 2);
  spec.max_restarts = 0;
  Begin(spec, {"a", "b"});
  job_->Fails("b", KilledBy(3, SIGBUS));
  job_->AllStop();
  ASSERT_EQ(job_->phase(), JobPhase::kFinished);
  EXPECT_THAT(job_->memory().List(job_->wall_time()), SizeIs(1));
}

TEST_F(JobQuarantine, ALostNodeCounts) {
  Begin(Restarting(1, 2), {"a", "b"});
  job_->Lose("b");
  job_->AllStop();
  const auto list = job_->memory().List(job_->wall_time());
  ASSERT_THAT(list, SizeIs(1));
  EXPECT_EQ(list[0].key, KeyOf("b"));
  EXPECT_THAT(list[0].judgement.reason, HasSubstr("lost: its connection"));
}

TEST_F(JobQuarantine, SeveralNodesThatAreLostTogetherDoNotCount) {
  Begin(Restarting(1, 3), {"a", "b", "c"});
  job_->BreakStream("b");
  job_->Lose("c");
  job_->AllStop();
  EXPECT_THAT(job_->memory().List(job_->wall_time()), IsEmpty());
}

TEST_F(JobQuarantine, AnAgentOfTheCoordinatorsProcessIsNotLostByItsMachine) {
  job_.emplace(Restarting(1, 2));
  for (const char* const name : {"a", "b"}) job_->Create(name).peer = "";
  job_->StartAll({"a", "b"});
  job_->Lose("b");
  job_->AllStop();
  EXPECT_THAT(job_->memory().List(job_->wall_time()), IsEmpty());
}

TEST_F(JobQuarantine, ALossInACancelledOrPreemptedJobDoesNotCount) {
  Begin(Restarting(1, 2), {"a", "b"});
  job_->agent("a").report.preemption = PreemptionNotice{.signal = SIGTERM};
  job_->Report("a");
  job_->Lose("b");
  job_->AllStop();
  EXPECT_THAT(job_->memory().List(job_->wall_time()), IsEmpty());
}

// The job has at most six nodes. The agents of nodes b to e are started again,
// and node f is lost. The machine of b is quarantined. A world of nodes a to e
// leaves only one node (f) for another coordinator. A world without b would
// leave two, which is too many. So b gets a place although min_nodes (3) nodes
// are ready without b.
TEST_F(JobQuarantine, ANodeWithoutWhichTooManyMayBeElsewhereIsNotSetAside) {
  job_.emplace(JobFixture::HostedBy("a", Restarting(3, 6)));
  const Names names = {"a", "b", "c", "d", "e", "f"};
  for (const std::string& name : names) Create(name);
  job_->StartAll(names);
  for (const char* name : {"b", "c", "d", "e", "f"}) job_->BreakStream(name);
  job_->Wait(seconds(3));
  job_->AllStop();
  Quarantine("b");
  for (const char* name : {"b", "c", "d", "e"}) job_->Restart(name);
  job_->Wait(seconds(5));
  EXPECT_EQ(job_->round(), 2);
  EXPECT_THAT(job_->World(), SizeIs(5));
}

// Node a has answered the order to stop before it announces the preemption. So
// the preemption is not why the worker of b failed, and the job still fails.
TEST_F(JobQuarantine, AFailureBeforeAPreemptionDoesNotCount) {
  JobSpec spec = QuickSpec(2, 2);
  spec.max_restarts = 0;
  Begin(spec, {"a", "b"});
  job_->Fails("b", KilledBy(3, SIGBUS));
  job_->Stopping("a");
  job_->agent("a").report.preemption = PreemptionNotice{.signal = SIGTERM};
  job_->Report("a");
  job_->AllStop();
  ASSERT_EQ(job_->phase(), JobPhase::kFinished);
  EXPECT_EQ(job_->status().verdict->outcome, Outcome::kFailed);
  EXPECT_THAT(job_->memory().List(job_->wall_time()), IsEmpty());
}

TEST_F(JobQuarantine, AWorldWaitsForTheJudgementOfTheLastRound) {
  Job job("job", 7, Restarting(1, 1), Instant());
  StreamId stream = 0;
  const auto tell = [&](const std::string& name, NodePhase phase, int round,
                        std::vector<Failure> failures = {}) {
    Report report;
    report.run_id = "job";
    report.spec = Restarting(1, 1);
    report.node.node_id = report.node.host = name;
    report.sequence = ++stream;
    report.phase = phase;
    report.round = round;
    report.failures = std::move(failures);
    return job.Step(Instant(),
                    ReportArrived{name == "a" ? 1u : 2u, report, name});
  };
  tell("a", NodePhase::kIdle, 0);
  ASSERT_EQ(job.phase(), JobPhase::kRunning);
  tell("b", NodePhase::kIdle, 0);
  tell("a", NodePhase::kRunning, 1);
  tell("a", NodePhase::kStopping, 1, {KilledBy(0, SIGBUS)});
  const JobStep stopped = tell("a", NodePhase::kIdle, 1, {KilledBy(0, SIGBUS)});
  EXPECT_THAT(stopped.faults, SizeIs(1));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  EXPECT_EQ(job.NextDeadline(), Instant());
  HostView view;
  view[{"a", "a"}] = {.state = HostState::kSuspected, .score = 1};
  job.Step(Instant(), HostsJudged{std::make_shared<HostView>(view)});
  ASSERT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_EQ(job.Status(Instant()).nodes[0].node.node_id, "b");
}

TEST_F(JobQuarantine, AnAgentsOwnFaultsCountOnce) {
  Begin(Restarting(2, 2), {"a", "b"});
  job_->agent("b").report.faults = {
      {.ordinal = 1, .kind = FaultKind::kXid, .text = "XID 79"},
      {.ordinal = 2, .kind = FaultKind::kLost, .text = "a lie"}};
  job_->Report("b");
  job_->Report("b");
  EXPECT_EQ(job_->Count("fault"), 1);
  EXPECT_EQ(job_->Decided("fault"), "b: XID 79");
  const auto list = job_->memory().List(job_->wall_time());
  ASSERT_THAT(list, SizeIs(1));
  EXPECT_EQ(list[0].judgement.score, NodeMemory::WeightOf(FaultKind::kXid));
  EXPECT_EQ(list[0].key, KeyOf("b"));
}

TEST_F(JobQuarantine, AStatusNamesQuarantinedNodes) {
  Begin(Restarting(1, 2), {"a", "b"});
  Quarantine("b");
  FailRound("a", ExitedWith(0, 1));
  const JobStatus status = job_->status();
  ASSERT_THAT(status.nodes, SizeIs(2));
  EXPECT_EQ(status.nodes[1].node.node_id, "b");
  EXPECT_EQ(status.nodes[1].judgement.state, HostState::kQuarantined);
  EXPECT_EQ(status.nodes[1].judgement.reason, "lost");
}

TEST_F(JobQuarantine, ANewCoordinatorKnowsTheMachinesOfARestoredWorld) {
  Begin(Restarting(1, 2), {"a", "b"});
  job_->ReplaceCoordinator();
  job_->ReconnectAll({"a"});
  job_->Wait(seconds(6));
  job_->AllStop();
  const auto list = job_->memory().List(job_->wall_time());
  ASSERT_THAT(list, SizeIs(1));
  EXPECT_EQ(list[0].key, KeyOf("b"));
}

TEST_F(JobQuarantine, AQuarantinedSpareEvictsNoStraggler) {
  JobSpec spec = Restarting(1, 1);
  spec.evict_stragglers = true;
  Begin(spec, {"a"});
  Join("b");
  Quarantine("b");
  job_->Wait(seconds(10));
  EXPECT_EQ(job_->phase(), JobPhase::kRunning);
  EXPECT_EQ(job_->round(), 1);
}

TEST_F(JobQuarantine, AMemberIsReplacedByASpareIfTheJobEvictsStragglers) {
  JobSpec spec = Restarting(2, 2);
  spec.evict_stragglers = true;
  Begin(spec, {"a", "b"});
  Quarantine("b");
  job_->Wait(seconds(10));
  EXPECT_EQ(job_->phase(), JobPhase::kRunning);
  Join("c");
  job_->Wait(seconds(2));
  EXPECT_EQ(job_->phase(), JobPhase::kStopping);
  EXPECT_THAT(job_->told("a").reason,
              HasSubstr("b is quarantined and a spare is ready"));
  job_->AllStop();
  EXPECT_EQ(job_->World(), (Names{"a", "c"}));
  EXPECT_EQ(job_->status().restarts_used, 0);
  RunAll({"a", "c"});
  job_->Wait(seconds(20));
  EXPECT_EQ(job_->round(), 2);
}

TEST_F(JobQuarantine, AMemberStaysWithoutTheWishToEvict) {
  Begin(Restarting(2, 2), {"a", "b"});
  Quarantine("b");
  Join("c");
  job_->Wait(seconds(20));
  EXPECT_EQ(job_->round(), 1);
  EXPECT_EQ(job_->phase(), JobPhase::kRunning);
}

// Three of four electors are on machines with faults. One of these nodes gets a
// place nevertheless, because a world needs half of the electors.
TEST_F(JobQuarantine, NodesThatAMajorityNeedsAreNotLeftOut) {
  job_.emplace(JobFixture::HostedBy("a", Restarting(1, 4)));
  for (const char* const name : {"a", "b", "c", "d"}) Create(name);
  job_->agent("a").peer = "";
  job_->StartAll({"a", "b", "c", "d"});
  job_->Wait(seconds(10));
  RunAll({"a", "b", "c", "d"});
  ASSERT_EQ(job_->World(), (Names{"a", "b", "c", "d"}));
  for (const char* const host : {"b", "c", "d"}) {
    for (int i = 0; i < 3; ++i) {
      job_->memory().Record(
          job_->wall_time(), 100,
          {.host = KeyOf(host), .kind = FaultKind::kLost, .text = "lost"});
    }
  }
  job_->Judge();
  FailRound("a", ExitedWith(0, 1));
  EXPECT_EQ(job_->phase(), JobPhase::kRunning);
  EXPECT_THAT(job_->World(), SizeIs(2));
}

}  // namespace
}  // namespace muster::rendezvous
