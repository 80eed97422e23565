// Tests of the check by pairs before a round: which nodes are paired, which
// nodes get no place, and which results count against a machine. Also tests
// that a check never ends the job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

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
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

JobSpec CheckedSpec(int min_nodes, int max_nodes) {
  JobSpec spec = QuickSpec(min_nodes, max_nodes);
  spec.network_check = NetworkCheckTime::kStart;
  return spec;
}

// A job whose nodes measure their pairs when they are ordered to, and report
// the results. The connections of the nodes in `slow` are slow; the nodes in
// `silent` report no result.
class CheckedJob {
 public:
  explicit CheckedJob(const JobSpec& spec) : CheckedJob(JobFixture(spec)) {}
  explicit CheckedJob(JobFixture fixture) : job(std::move(fixture)) {}

  void Join(const std::string& name) {
    JobFixture::Agent& agent = job.Create(name);
    agent.report.check_port = 4000;
    agent.report.check_gpus = gpus[name];
    agent.peer = KeyOf(name).ip;
    job.Join(name);
    names_.push_back(name);
  }

  void Measure(const std::string& name) {
    if (job.agent(name).stream == 0 || silent.count(name) > 0) return;
    const Directive& told = job.told(name);
    if (told.kind != DirectiveKind::kWait || !told.pair_check.has_value()) {
      return;
    }
    const bool is_slow =
        slow.count(name) + slow.count(told.pair_check->partner) > 0;
    job.agent(name).report.measurement =
        PairMeasurement{.epoch = told.epoch,
                        .number = told.pair_check->number,
                        .round_trip_s = 0.001,
                        .bytes_per_s = is_slow ? slow_bytes_per_s : 1e9,
                        .compute_s = 0.01};
    job.Report(name);
  }

  // Counts faults of an earlier job against the machine of `name`.
  void Blame(const std::string& name, int faults) {
    for (int i = 0; i < faults; ++i) {
      job.memory().Record(job.wall_time(), kNodesForShare,
                          {.host = KeyOf(name),
                           .kind = FaultKind::kLost,
                           .run_id = "another job",
                           .text = "lost"});
    }
    job.Judge();
  }

  // Lets all nodes report the results of their measurements until the check by
  // pairs is over.
  void RunCheck() {
    for (int round = 0; round < 8; ++round) {
      for (const std::string& name : names_) Measure(name);
    }
  }

  JobFixture job;
  std::set<std::string> slow;
  double slow_bytes_per_s = 1e7;
  std::set<std::string> silent;
  std::map<std::string, int> gpus;  // Report::check_gpus of the nodes

 private:
  // The number of connected nodes that Blame passes to NodeMemory::Record. It
  // is large, because at most a tenth of the connected nodes may be quarantined
  // (NodeMemory::kShare).
  static constexpr int kNodesForShare = 100;
  std::vector<std::string> names_;
};

TEST(JobCheck, WithoutTheFlagNothingIsMeasured) {
  CheckedJob checked(QuickSpec(2, 2));
  checked.Join("a");
  checked.Join("b");
  EXPECT_EQ(checked.job.kind("a"), DirectiveKind::kRun);
  EXPECT_EQ(checked.job.Count("check"), 0);
}

TEST(JobCheck, TheWorldWaitsForTheCheck) {
  CheckedJob checked(CheckedSpec(2, 2));
  JobFixture& job = checked.job;
  checked.Join("a");
  EXPECT_FALSE(job.told("a").pair_check.has_value());
  checked.Join("b");
  const PairCheck first = *job.told("a").pair_check;
  const PairCheck second = *job.told("b").pair_check;
  EXPECT_EQ(first.number, second.number);
  EXPECT_NE(first.role, second.role);
  EXPECT_EQ(first.partner, "b");
  EXPECT_EQ(first.address, job.agent("b").report.node.address);
  EXPECT_EQ(first.port, 4000);
  EXPECT_THAT(job.status().reason, HasSubstr("are checked by pairs, round 1"));
  checked.Measure("a");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kWait);
  checked.Measure("b");
  EXPECT_EQ(job.kind("a"), DirectiveKind::kRun);
  EXPECT_EQ(job.kind("b"), DirectiveKind::kRun);
  EXPECT_THAT(job.Decided("check"),
              HasSubstr("the check of 2 nodes by pairs took 0.00 s and 1 "
                        "round: all are good; the medians of 2 nodes are 1 "
                        "GB/s and 1 ms"));
}

TEST(JobCheck, AsManyGpusAreMeasuredAsBothPartnersHave) {
  CheckedJob checked(CheckedSpec(2, 2));
  JobFixture& job = checked.job;
  checked.gpus = {{"a", 8}, {"b", 4}};
  checked.Join("a");
  checked.Join("b");
  EXPECT_EQ(job.told("a").pair_check->gpus, 4);
  EXPECT_EQ(job.told("b").pair_check->gpus, 4);
  checked.silent = {"b"};
  checked.Measure("a");
  job.Wait(NetworkCheck::kRoundTimeout);
  EXPECT_EQ(job.kind("a"), DirectiveKind::kWait);
  job.Wait(NetworkCheck::kGpuRoundTimeout - NetworkCheck::kRoundTimeout);
  EXPECT_EQ(job.kind("a"), DirectiveKind::kRun);
}

TEST(JobCheck, ASpareTakesThePlaceOfABadNode) {
  CheckedJob checked(CheckedSpec(2, 2));
  JobFixture& job = checked.job;
  checked.slow = {"b"};
  checked.Join("a");
  checked.Join("b");
  checked.Join("c");
  checked.RunCheck();
  EXPECT_THAT(job.World(), ElementsAre("a", "c"));
  EXPECT_EQ(job.kind("b"), DirectiveKind::kWait);
  EXPECT_THAT(job.Decided("unhealthy"),
              HasSubstr("b is kept out: slow in the check by pairs: 10 MB/s "
                        "and 1 ms with a"));
  EXPECT_THAT(job.told("b").check_fault, HasSubstr("slow in the check"));
  EXPECT_THAT(job.told("b").reason, HasSubstr("slow in the check"));
  for (const NodeStatus& node : job.status().nodes) {
    EXPECT_EQ(node.health,
              node.node.node_id == "b" ? Health::kUnhealthy : Health::kHealthy);
  }
}

TEST(JobCheck, ABadNodeIsNoSpareThatIsLetIn) {
  CheckedJob checked(CheckedSpec(2, 3));
  JobFixture& job = checked.job;
  checked.slow = {"b"};
  for (const char* name : {"a", "b", "c"}) checked.Join(name);
  checked.RunCheck();
  EXPECT_EQ(job.phase(), JobPhase::kGathering) << "the last call goes on";
  job.Wait(seconds(5));
  EXPECT_THAT(job.World(), ElementsAre("a", "c"));
  job.Runs("a");
  job.Runs("c");
  job.Wait(seconds(30));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_EQ(job.round(), 1);
}

TEST(JobCheck, WithoutEnoughOthersABadNodeTakesPart) {
  CheckedJob checked(CheckedSpec(3, 3));
  JobFixture& job = checked.job;
  checked.slow = {"b"};
  for (const char* name : {"a", "b", "c"}) checked.Join(name);
  checked.RunCheck();
  EXPECT_THAT(job.World(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(job.Decided("check"),
              HasSubstr("warning: b takes part although it is bad, because "
                        "only 2 of at least 3 nodes are good: slow"));
  EXPECT_EQ(job.status().nodes[1].health, Health::kUnhealthy);
}

TEST(JobCheck, OfTwoBadNodesTheSlowOneIsLetIn) {
  CheckedJob checked(CheckedSpec(4, 4));
  JobFixture& job = checked.job;
  checked.slow = {"e"};
  checked.silent = {"b"};
  for (const char* name : {"a", "b", "c"}) checked.Join(name);
  checked.Join("d");
  checked.Join("e");
  for (int i = 0; i < 4; ++i) {
    checked.RunCheck();
    job.Wait(NetworkCheck::kRoundTimeout);
  }
  EXPECT_THAT(job.World(), ElementsAre("a", "c", "d", "e"));
}

TEST(JobCheck, AWaivedNodeMakesRoomForABetterOne) {
  CheckedJob checked(CheckedSpec(3, 4));
  JobFixture& job = checked.job;
  checked.slow = {"b"};
  for (const char* name : {"a", "b", "c"}) checked.Join(name);
  job.Wait(seconds(4));
  checked.RunCheck();
  ASSERT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_THAT(job.World(), ElementsAre("a", "b", "c"));
  for (const char* name : {"a", "b", "c"}) job.Runs(name);
  // A good spare comes: the next round begins without the bad node.
  checked.Join("d");
  job.Wait(seconds(10));
  job.AllStop();
  EXPECT_THAT(job.World(), ElementsAre("a", "d", "c"));
  job.Wait(seconds(1));
  EXPECT_EQ(job.kind("b"), DirectiveKind::kWait);
}

// Node d is lost, so the bad node b is needed. During the check that follows
// the loss, e and f come, and b is needed no more.
TEST(JobCheck, AWaiverIsWithdrawnIfBetterNodesComeInTime) {
  JobSpec spec = CheckedSpec(3, 4);
  spec.network_check = NetworkCheckTime::kSuspicion;
  CheckedJob checked(spec);
  JobFixture& job = checked.job;
  checked.slow = {"b"};
  for (const char* name : {"a", "b", "c", "d"}) checked.Join(name);
  checked.RunCheck();
  job.Wait(seconds(5));  // until the last call for more nodes is over
  ASSERT_THAT(job.World(), ElementsAre("a", "c", "d"));
  for (const char* name : {"a", "c", "d"}) job.Runs(name);
  job.Lose("d");
  job.AllStop();
  while (!job.told("b").pair_check.has_value()) job.Wait(seconds(1));
  checked.Join("e");
  checked.Join("f");
  checked.RunCheck();
  EXPECT_THAT(job.World(), UnorderedElementsAre("a", "c", "e", "f"));
}

TEST(JobCheck, ASilentNodeDelaysTheJobOnly) {
  CheckedJob checked(CheckedSpec(2, 2));
  JobFixture& job = checked.job;
  checked.silent = {"a", "b"};
  checked.Join("a");
  checked.Join("b");
  checked.RunCheck();
  job.Wait(NetworkCheck::kRoundTimeout - seconds(1));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  job.Wait(seconds(1));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_THAT(job.Decided("check"), HasSubstr("warning: some nodes take part"));
}

TEST(JobCheck, ALostNodeIsNotAwaited) {
  CheckedJob checked(CheckedSpec(2, 3));
  JobFixture& job = checked.job;
  for (const char* name : {"a", "b", "c"}) checked.Join(name);
  job.BreakStream("b");
  checked.Measure("a");
  // Two things happen within these 5 s. Node b, whose stream broke, is lost, so
  // the measurements end before their time limit (10 s). And the wait for more
  // nodes (the last call, 4 s) ends. Then the remaining nodes are measured.
  job.Wait(seconds(5));
  checked.RunCheck();
  EXPECT_THAT(job.World(), ElementsAre("a", "c"));
  EXPECT_THAT(job.Decided("check"),
              HasSubstr("1 node left meanwhile, all others are good"));
}

TEST(JobCheck, AMeasurementOfAnotherCoordinatorIsIgnored) {
  CheckedJob checked(CheckedSpec(2, 2));
  JobFixture& job = checked.job;
  checked.Join("a");
  checked.Join("b");
  for (const char* name : {"a", "b"}) {
    job.agent(name).report.measurement =
        PairMeasurement{.epoch = job.told(name).epoch - 1,
                        .number = job.told(name).pair_check->number,
                        .round_trip_s = 1,
                        .bytes_per_s = 1};
    job.Report(name);
  }
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
}

TEST(JobCheck, ANewCoordinatorBeginsTheCheckAnew) {
  CheckedJob checked(CheckedSpec(2, 2));
  JobFixture& job = checked.job;
  checked.Join("a");
  checked.Join("b");
  checked.Measure("a");
  job.ReplaceCoordinator(seconds(1));
  job.ReconnectAll({"a", "b"});
  EXPECT_TRUE(job.told("a").pair_check.has_value());
  checked.RunCheck();
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

TEST(JobCheck, ANewCoordinatorKeepsABadNodeOut) {
  for (const bool has_record : {true, false}) {
    CheckedJob checked(CheckedSpec(2, 3));
    JobFixture& job = checked.job;
    checked.slow = {"b"};
    for (const char* name : {"a", "b", "c"}) checked.Join(name);
    checked.RunCheck();
    job.Wait(seconds(5));
    job.Runs("a");
    job.Runs("c");
    // The agent of node b copies the check_fault from its directive to its next
    // report.
    job.agent("b").report.check_fault = job.told("b").check_fault;
    if (has_record) {
      job.ReplaceCoordinator();
    } else {
      job.ReplaceCoordinatorAndRecord();
    }
    job.ReconnectAll({"a", "b", "c"});
    job.Wait(seconds(30));
    EXPECT_EQ(job.round(), 1);
    EXPECT_EQ(job.phase(), JobPhase::kRunning);
    EXPECT_THAT(job.told("b").check_fault, Not(IsEmpty()));
  }
}

TEST(JobCheck, NoMeasurementWhileTheCoordinatorStoodStillIsLost) {
  CheckedJob checked(CheckedSpec(2, 2));
  JobFixture& job = checked.job;
  checked.Join("a");
  checked.Join("b");
  job.StandStill(NetworkCheck::kRoundTimeout + seconds(1));
  checked.Measure("a");
  checked.Measure("b");
  job.Wait(seconds(1));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_THAT(job.Decided("check"), HasSubstr("all are good"));
}

TEST(JobCheck, NodesWithoutAPortAreNotChecked) {
  CheckedJob checked(CheckedSpec(2, 2));
  JobFixture& job = checked.job;
  job.Join("a");
  job.Join("b");
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

TEST(JobCheck, AtTheJoinTimeoutTheWorldFormsUnchecked) {
  JobSpec spec = CheckedSpec(2, 3);
  spec.join_timeout = seconds(10);
  CheckedJob checked(spec);
  JobFixture& job = checked.job;
  checked.silent = {"a"};
  checked.Join("a");
  checked.Join("b");
  job.Wait(seconds(10));
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

// Runs round 1 of a job on the nodes a and b, with the spare c. Then calls
// `end`, which must break the round, and lets all workers stop.
void RunARound(CheckedJob& checked,
               const std::function<void(JobFixture&)>& end) {
  JobFixture& job = checked.job;
  for (const char* name : {"a", "b"}) checked.Join(name);
  checked.RunCheck();
  ASSERT_EQ(job.phase(), JobPhase::kRunning);
  job.Runs("a");
  job.Runs("b");
  checked.Join("c");
  end(job);
  job.AllStop();
}

TEST(JobCheck, AfterSuspicionTheNodesAreCheckedAgain) {
  JobSpec spec = CheckedSpec(2, 2);
  spec.max_restarts = 3;
  spec.network_check = NetworkCheckTime::kSuspicion;
  const auto lose = [](JobFixture& job) { job.Lose("b"); };
  const auto fail_to_communicate = [](JobFixture& job) {
    Failure failure = ExitedWith(0, 1);
    failure.message = "Connection reset by peer";
    job.Fails("a", failure);
  };
  for (const auto& end :
       {std::function<void(JobFixture&)>(lose),
        std::function<void(JobFixture&)>(fail_to_communicate)}) {
    CheckedJob checked(spec);
    RunARound(checked, end);
    EXPECT_EQ(checked.job.phase(), JobPhase::kGathering);
    checked.RunCheck();
    EXPECT_EQ(checked.job.phase(), JobPhase::kRunning);
    EXPECT_EQ(checked.job.round(), 2);
  }
}

// Lets the nodes a and b train for 25 steps of one second, with one rank each.
// Node b computes longer than a. `data`: the part of its own time for which b
// waits for its data.
void TrainWithSlowB(JobFixture& job, Duration data) {
  for (int step = 0; step < 25; ++step) {
    for (const char* name : {"a", "b"}) {
      std::vector<RankTimes>& times = job.agent(name).report.times;
      if (times.empty()) times.emplace_back();
      const bool is_slow = name == std::string("b");
      times[0].own += milliseconds(is_slow ? 900 : 600);
      times[0].blocked += milliseconds(is_slow ? 100 : 400);
      if (is_slow) times[0].data += data;
    }
    job.Wait(seconds(1));
  }
  ASSERT_EQ(job.Count("straggler"), 1);
  ASSERT_EQ(job.round(), 1) << "no round is stopped for a check";
}

void ReportXid(JobFixture& job, const std::string& name) {
  job.agent(name).report.faults = {
      {.ordinal = 1, .kind = FaultKind::kXid, .text = "GPU 0: XID 79"}};
  job.Report(name);
}

void FailOfItself(JobFixture& job) { job.Fails("a", ExitedWith(0, 1)); }

// Runs a job whose first round ends by a worker's own failure, after
// `suspicion`. Returns whether the nodes are checked before the next round.
bool IsCheckedAfter(NetworkCheckTime when,
                    const std::function<void(JobFixture&)>& suspicion) {
  JobSpec spec = CheckedSpec(2, 2);
  spec.max_restarts = 3;
  spec.network_check = when;
  CheckedJob checked(spec);
  RunARound(checked, [&](JobFixture& job) {
    suspicion(job);
    FailOfItself(job);
  });
  const bool is_checked = checked.job.told("a").pair_check.has_value();
  checked.RunCheck();
  EXPECT_EQ(checked.job.phase(), JobPhase::kRunning);
  EXPECT_EQ(checked.job.round(), 2);
  for (const std::string& name : checked.job.World()) checked.job.Runs(name);
  FailOfItself(checked.job);
  checked.job.AllStop();
  EXPECT_FALSE(checked.job.told("a").pair_check.has_value())
      << "the suspicion has had its check";
  return is_checked;
}

TEST(JobCheck, AfterASlowRankTheNodesAreCheckedBeforeTheNextRound) {
  const auto computes = [](JobFixture& job) {
    TrainWithSlowB(job, milliseconds(0));
  };
  EXPECT_TRUE(IsCheckedAfter(NetworkCheckTime::kSuspicion, computes));
  EXPECT_FALSE(IsCheckedAfter(NetworkCheckTime::kStart, computes));
  EXPECT_FALSE(IsCheckedAfter(
      NetworkCheckTime::kSuspicion,
      [](JobFixture& job) { TrainWithSlowB(job, milliseconds(400)); }))
      << "the check does not measure where the data come from";
}

TEST(JobCheck, AfterAnErrorOfAGpuTheNodesAreCheckedBeforeTheNextRound) {
  const auto xid = [](JobFixture& job) { ReportXid(job, "b"); };
  EXPECT_TRUE(IsCheckedAfter(NetworkCheckTime::kSuspicion, xid));
  EXPECT_FALSE(IsCheckedAfter(NetworkCheckTime::kStart, xid));
  EXPECT_FALSE(IsCheckedAfter(NetworkCheckTime::kSuspicion, [](JobFixture&
                                                                   job) {
    job.agent("b").report.faults = {
        {.ordinal = 1, .kind = FaultKind::kCheck, .text = "the disk is full"}};
    job.Report("b");
  })) << "a node with a failed health check gets no place";
}

TEST(JobCheck, ANewCoordinatorStillSuspectsAGpu) {
  for (const bool has_record : {true, false}) {
    JobSpec spec = CheckedSpec(2, 2);
    spec.max_restarts = 3;
    spec.network_check = NetworkCheckTime::kSuspicion;
    CheckedJob checked(spec);
    RunARound(checked, [&](JobFixture& job) {
      ReportXid(job, "b");
      if (has_record) {
        job.ReplaceCoordinator(seconds(1));
      } else {
        job.ReplaceCoordinatorAndRecord(seconds(1));
      }
      job.ReconnectAll({"a", "b", "c"});
      job.Wait(spec.lease());
      ASSERT_EQ(job.phase(), JobPhase::kRunning);
      FailOfItself(job);
    });
    EXPECT_TRUE(checked.job.told("a").pair_check.has_value());
  }
}

// The nodes do not report that a rank was slow, so only the record says that a
// check is due.
TEST(JobCheck, TheRecordHasADueCheck) {
  JobSpec spec = CheckedSpec(2, 2);
  spec.max_restarts = 3;
  spec.network_check = NetworkCheckTime::kSuspicion;
  CheckedJob checked(spec);
  RunARound(checked, [](JobFixture& job) {
    TrainWithSlowB(job, milliseconds(0));
    job.ReplaceCoordinator(seconds(1));
    job.ReconnectAll({"a", "b", "c"});
    FailOfItself(job);
  });
  EXPECT_TRUE(checked.job.told("a").pair_check.has_value());
  checked.RunCheck();
  ASSERT_EQ(checked.job.round(), 2);
  for (const std::string& name : checked.job.World()) checked.job.Runs(name);
  checked.job.ReplaceCoordinator(seconds(1));
  checked.job.ReconnectAll({"a", "b", "c"});
  FailOfItself(checked.job);
  checked.job.AllStop();
  EXPECT_FALSE(checked.job.told("a").pair_check.has_value())
      << "the suspicion has had its check";
}

// The same if another node takes over. No check is due any more after the next
// round has begun.
TEST(JobCheck, ADueCheckIsHandedOver) {
  for (const bool is_over : {false, true}) {
    JobSpec spec = CheckedSpec(2, 4);
    spec.max_restarts = 3;
    spec.network_check = NetworkCheckTime::kSuspicion;
    CheckedJob checked(JobFixture::HostedBy("d", spec));
    JobFixture& job = checked.job;
    const std::vector<std::string> names = {"a", "b", "c", "d"};
    for (const std::string& name : names) checked.Join(name);
    checked.RunCheck();
    for (const std::string& name : names) job.Runs(name);
    TrainWithSlowB(job, milliseconds(0));
    for (const std::string& name : names) job.Report(name);
    if (is_over) {
      FailOfItself(job);
      job.AllStop();
      checked.RunCheck();
      ASSERT_EQ(job.round(), 2);
      for (const std::string& name : names) job.Runs(name);
    }
    job.TakeOver("a");
    job.ReconnectAll({"a", "b", "c"});
    // The workers stop because of an order, so the round has no suspicious end.
    job.Step(DrainAsked{"c"});
    job.AllStop();
    job.Wait(seconds(5));
    EXPECT_EQ(job.told("a").pair_check.has_value(), !is_over);
  }
}

TEST(JobCheck, ASuspicionIsRecordedOnce) {
  JobSpec spec = CheckedSpec(2, 2);
  spec.network_check = NetworkCheckTime::kSuspicion;
  CheckedJob checked(spec);
  RunARound(checked, [](JobFixture& job) {
    ReportXid(job, "b");
    EXPECT_TRUE(job.last_step().record_changed);
    ReportXid(job, "a");
    EXPECT_FALSE(job.last_step().record_changed) << "a check is due already";
    FailOfItself(job);
  });
}

TEST(JobCheck, AfterAnEvictionTheOtherNodesAreChecked) {
  JobSpec spec = CheckedSpec(2, 2);
  spec.network_check = NetworkCheckTime::kSuspicion;
  spec.evict_stragglers = true;
  CheckedJob checked(spec);
  RunARound(checked,
            [](JobFixture& job) { TrainWithSlowB(job, milliseconds(0)); });
  EXPECT_EQ(checked.job.kind("b"), DirectiveKind::kReleased);
  EXPECT_TRUE(checked.job.told("c").pair_check.has_value());
  checked.RunCheck();
  EXPECT_THAT(checked.job.World(), UnorderedElementsAre("a", "c"));
}

TEST(JobCheck, WithoutSuspicionTheNextRoundBeginsAtOnce) {
  JobSpec spec = CheckedSpec(2, 2);
  spec.max_restarts = 3;
  const auto fail = [](JobFixture& job) { job.Fails("a", ExitedWith(0, 1)); };
  const auto lose = [](JobFixture& job) { job.Lose("b"); };
  {
    CheckedJob checked(spec);
    RunARound(checked, lose);
    EXPECT_EQ(checked.job.round(), 2) << "only the first round is checked";
  }
  spec.network_check = NetworkCheckTime::kSuspicion;
  CheckedJob checked(spec);
  RunARound(checked, fail);
  EXPECT_EQ(checked.job.round(), 2) << "a worker's own failure";
}

// Runs a job on the nodes a and c. The spares are b, which the check found bad,
// and d. Then c is lost, and the remaining nodes are checked again.
void LoseANodeBesideABadOne(CheckedJob& checked) {
  JobFixture& job = checked.job;
  checked.slow = {"b"};
  for (const char* name : {"a", "b", "c"}) checked.Join(name);
  checked.RunCheck();
  ASSERT_THAT(job.World(), ElementsAre("a", "c"));
  job.Runs("a");
  job.Runs("c");
  checked.Join("d");
  job.Lose("c");
  job.AllStop();
  checked.slow_bytes_per_s = 2e7;
  checked.RunCheck();
}

TEST(JobCheck, ABadNodeCountsOneFaultUntilItIsGood) {
  JobSpec spec = CheckedSpec(2, 2);
  spec.network_check = NetworkCheckTime::kSuspicion;
  CheckedJob checked(spec);
  JobFixture& job = checked.job;
  LoseANodeBesideABadOne(checked);
  ASSERT_THAT(job.World(), UnorderedElementsAre("a", "d"));
  EXPECT_EQ(job.round(), 2);
  int faults = 0;
  for (const HostStatus& host : job.memory().List(job.wall_time())) {
    if (host.key.host == "c") continue;  // c has a fault: the loss of node c
    ++faults;
    EXPECT_EQ(host.key, KeyOf("b"));
    EXPECT_EQ(host.faults, 1);
    EXPECT_EQ(host.run_id, "train");
    EXPECT_THAT(host.judgement.reason, HasSubstr("slow in the check by pairs"));
  }
  EXPECT_EQ(faults, 1);
}

TEST(JobCheck, AWorldWaitsForTheJudgementOfTheCheck) {
  const JobSpec spec = CheckedSpec(2, 2);
  Job job("job", 7, spec, Instant());
  std::map<StreamId, Report> reports;
  std::map<StreamId, Directive> told;
  JobStep newest;
  const auto step = [&](const JobEvent& event) {
    newest = job.Step(Instant(), event);
    for (const Delivery& delivery : newest.deliveries) {
      told[delivery.stream] = delivery.directive;
    }
  };
  const auto report = [&](StreamId stream) {
    ++reports[stream].sequence;
    step(ReportArrived{stream, reports[stream], absl::StrCat("ip", stream)});
  };
  for (StreamId stream = 1; stream <= 3; ++stream) {
    Report& one = reports[stream];
    one.run_id = "job";
    one.spec = spec;
    one.node.node_id = one.node.host = absl::StrCat("n", stream);
    one.node.incarnation = stream;
    one.node.address = absl::StrCat("10.0.0.", stream);
    one.check_port = 4000;
    report(stream);
  }
  const auto measure = [&](StreamId stream) {
    const std::optional<PairCheck>& asked = told[stream].pair_check;
    if (!asked.has_value()) return;
    const bool is_slow = stream == 2 || asked->partner == "n2";
    reports[stream].measurement =
        PairMeasurement{.epoch = 7,
                        .number = asked->number,
                        .round_trip_s = 0.001,
                        .bytes_per_s = is_slow ? 1e7 : 1e9,
                        .compute_s = 0.01};
    report(stream);
  };
  for (int i = 0; i < 20 && newest.faults.empty(); ++i) measure(1 + i % 3);
  ASSERT_THAT(newest.faults, SizeIs(1));
  const HostFault& fault = newest.faults[0];
  EXPECT_EQ(fault.kind, FaultKind::kCheck);
  EXPECT_EQ(fault.host, (HostKey{"n2", "ip2"}));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  EXPECT_EQ(job.NextDeadline(), Instant());
  step(HostsJudged());
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
}

TEST(JobCheck, AQuarantinedNodeFillsUpBeforeABadOne) {
  CheckedJob checked(CheckedSpec(2, 3));
  JobFixture& job = checked.job;
  checked.slow = {"b"};
  checked.Blame("c", 3);
  for (const char* name : {"a", "b", "c"}) checked.Join(name);
  checked.RunCheck();
  job.Wait(seconds(5));
  checked.RunCheck();
  EXPECT_THAT(job.World(), ElementsAre("a", "c"));
  EXPECT_THAT(job.Decided("check"), Not(HasSubstr("takes part although")));
}

TEST(JobCheck, QuarantinedAndBadNodesFillUpTogether) {
  CheckedJob checked(CheckedSpec(3, 3));
  JobFixture& job = checked.job;
  checked.slow = {"b"};
  checked.Blame("c", 3);
  for (const char* name : {"a", "b", "c"}) checked.Join(name);
  checked.RunCheck();
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_THAT(job.World(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(job.Decided("check"), HasSubstr("b takes part although"));
}

TEST(JobCheck, ABadNodeThatTheCheckQuarantinesFillsUp) {
  CheckedJob checked(CheckedSpec(3, 3));
  JobFixture& job = checked.job;
  checked.slow = {"b"};
  checked.Blame("b", 2);
  for (const char* name : {"a", "b", "c"}) checked.Join(name);
  checked.RunCheck();
  EXPECT_THAT(job.Decided("quarantine"), HasSubstr("b takes part although"));
  EXPECT_EQ(job.status().nodes[1].judgement.state, HostState::kQuarantined);
  EXPECT_THAT(job.World(), ElementsAre("a", "b", "c"));
}

TEST(JobCheck, AWaivedNodeMakesRoomForAQuarantinedOne) {
  JobSpec spec = CheckedSpec(3, 4);
  spec.max_restarts = 3;
  CheckedJob checked(spec);
  JobFixture& job = checked.job;
  checked.slow = {"b"};
  for (const char* name : {"a", "b", "c"}) checked.Join(name);
  job.Wait(seconds(4));
  checked.RunCheck();
  ASSERT_THAT(job.World(), ElementsAre("a", "b", "c"));
  for (const char* name : {"a", "b", "c"}) job.Runs(name);
  checked.Blame("d", 3);
  checked.Join("d");
  job.Wait(seconds(20));
  EXPECT_EQ(job.round(), 1) << "no round is broken for a quarantined node";
  job.Fails("a", ExitedWith(0, 1));
  job.AllStop();
  job.Wait(seconds(40));
  EXPECT_THAT(job.World(), UnorderedElementsAre("a", "c", "d"));
}

TEST(JobCheck, ABannedNodeIsNeitherCheckedNorLetIn) {
  CheckedJob checked(CheckedSpec(3, 3));
  JobFixture& job = checked.job;
  checked.slow = {"b"};
  for (const char* name : {"a", "b", "c"}) checked.Join(name);
  for (const char* name : {"a", "b"}) checked.Measure(name);
  ASSERT_TRUE(job.memory().Ban(job.wall_time(), "b", "broken fan").ok());
  job.Judge();
  checked.RunCheck();
  job.Wait(NetworkCheck::kRoundTimeout);
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  EXPECT_FALSE(job.told("b").pair_check.has_value());
  EXPECT_THAT(job.status().reason, HasSubstr("b (banned: broken fan)"));
  checked.Join("d");
  EXPECT_TRUE(job.told("d").pair_check.has_value());
  EXPECT_FALSE(job.told("b").pair_check.has_value());
  checked.RunCheck();
  EXPECT_THAT(job.World(), UnorderedElementsAre("a", "c", "d"));
}

TEST(JobCheck, ANodeThatIsBannedAlreadyIsNotMeasured) {
  CheckedJob checked(CheckedSpec(2, 2));
  JobFixture& job = checked.job;
  checked.Join("b");
  ASSERT_TRUE(job.memory().Ban(job.wall_time(), "b", "broken fan").ok());
  job.Judge();
  checked.Join("a");
  checked.Join("c");
  EXPECT_TRUE(job.told("a").pair_check.has_value());
  EXPECT_TRUE(job.told("c").pair_check.has_value());
  EXPECT_FALSE(job.told("b").pair_check.has_value());
  checked.RunCheck();
  EXPECT_THAT(job.World(), ElementsAre("a", "c"));
}

TEST(JobCheck, TheFaultOfABannedNodeIsNotWaived) {
  CheckedJob checked(CheckedSpec(2, 2));
  JobFixture& job = checked.job;
  checked.slow = {"b"};
  for (const char* name : {"a", "b", "c"}) checked.Join(name);
  checked.RunCheck();
  ASSERT_THAT(job.World(), ElementsAre("a", "c"));
  job.Runs("a");
  job.Runs("c");
  ASSERT_TRUE(job.memory().Ban(job.wall_time(), "b", "broken fan").ok());
  job.Judge();
  job.Lose("c");
  job.AllStop();
  job.Wait(seconds(10));
  EXPECT_EQ(job.phase(), JobPhase::kGathering);
  EXPECT_THAT(job.Decided("check"), Not(HasSubstr("takes part although")));
}

TEST(JobCheck, ARestartedCoordinatorGoesOnAfterSuspicion) {
  for (const bool has_record : {true, false}) {
    JobSpec spec = CheckedSpec(2, 2);
    spec.network_check = NetworkCheckTime::kSuspicion;
    CheckedJob checked(spec);
    JobFixture& job = checked.job;
    RunARound(checked, [](JobFixture& one) { one.Lose("b"); });
    ASSERT_TRUE(job.told("a").pair_check.has_value());
    checked.Measure("a");
    if (has_record) {
      job.ReplaceCoordinator(seconds(1));
    } else {
      job.ReplaceCoordinatorAndRecord(seconds(1));
    }
    job.ReconnectAll({"a", "c"});
    job.Wait(spec.lease());
    EXPECT_TRUE(!has_record || job.told("a").pair_check.has_value());
    checked.RunCheck();
    EXPECT_EQ(job.phase(), JobPhase::kRunning);
    EXPECT_THAT(job.World(), UnorderedElementsAre("a", "c"));
    EXPECT_EQ(job.round(), 2);
  }
}

TEST(JobCheck, AStandbyThatTakesOverDuringACheckGoesOn) {
  JobSpec spec = CheckedSpec(2, 4);
  spec.network_check = NetworkCheckTime::kSuspicion;
  CheckedJob checked(JobFixture::HostedBy("a", spec));
  JobFixture& job = checked.job;
  for (const char* name : {"a", "b", "c", "d"}) checked.Join(name);
  checked.RunCheck();
  ASSERT_EQ(job.phase(), JobPhase::kRunning);
  for (const char* name : {"a", "b", "c", "d"}) job.Runs(name);
  job.Lose("d");
  job.AllStop();
  ASSERT_TRUE(job.told("b").pair_check.has_value());
  checked.Measure("b");
  job.TakeOver("b", seconds(1));
  job.ReconnectAll({"b", "c"});
  job.Wait(spec.lease() + seconds(10));
  checked.RunCheck();
  EXPECT_EQ(job.phase(), JobPhase::kRunning);
  EXPECT_THAT(job.World(), UnorderedElementsAre("b", "c"));
}

// Node e is lost, so the round is stopped. Then the coordinator is lost as
// well, before or after the other nodes have stopped. The next coordinator
// adopts the round, but does not know why it was stopped: no node reports the
// cause.
TEST(JobCheck, AStandbyChecksTheNodesIfItDoesNotKnowTheCause) {
  for (const NodePhase phase : {NodePhase::kStopping, NodePhase::kIdle}) {
    JobSpec spec = CheckedSpec(2, 5);
    spec.network_check = NetworkCheckTime::kSuspicion;
    CheckedJob checked(JobFixture::HostedBy("a", spec));
    JobFixture& job = checked.job;
    const std::vector<std::string> names = {"a", "b", "c", "d", "e"};
    for (const std::string& name : names) checked.Join(name);
    checked.RunCheck();
    ASSERT_EQ(job.phase(), JobPhase::kRunning);
    for (const std::string& name : names) job.Runs(name);
    job.Lose("e");
    for (const char* name : {"b", "c", "d"}) {
      job.agent(name).report.phase = phase;
    }
    job.TakeOver("b");
    job.ReconnectAll({"b", "c", "d"});
    ASSERT_THAT(job.Decided("adopt"), HasSubstr("round 1 goes on"));
    job.AllStop();
    job.Wait(seconds(5));  // until the last call for more nodes is over
    EXPECT_EQ(job.phase(), JobPhase::kGathering);
    EXPECT_TRUE(job.told("b").pair_check.has_value());
  }
}

TEST(JobCheck, AGoodCheckLiftsAFault) {
  JobSpec spec = CheckedSpec(2, 2);
  spec.network_check = NetworkCheckTime::kSuspicion;
  CheckedJob checked(spec);
  JobFixture& job = checked.job;
  checked.slow = {"b"};
  for (const char* name : {"a", "b", "c"}) checked.Join(name);
  checked.RunCheck();
  ASSERT_THAT(job.World(), ElementsAre("a", "c"));
  job.Runs("a");
  job.Runs("c");
  checked.slow.clear();
  job.Lose("c");
  job.AllStop();
  checked.RunCheck();
  EXPECT_THAT(job.World(), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(job.Decided("healthy"), HasSubstr("b is good"));
  EXPECT_EQ(job.told("b").check_fault, "");
}

}  // namespace
}  // namespace muster::rendezvous
