// Runs several coordinators and standbys of one job, and cuts nodes off at the
// worst moments. Two worlds must never run on all of their nodes at the same
// time.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rendezvous/job/job_fixture.h"
#include "rendezvous/takeover/standby.h"

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::IsEmpty;
using Names = std::initializer_list<const char*>;

// The agents obey directives as a Lifecycle does, but stop their workers at
// once. Each process, named after its node, runs a Job or a Standby, or none.
class Succession {
 public:
  struct Agent {
    Report report;
    std::string process;  // the process to which the agent is connected
    StreamId stream = 0;  // 0: not connected
    bool deaf = false;    // whether directives do not reach the agent
  };

  // `founder`: the process that founds the job.
  Succession(const JobSpec& spec, const std::string& founder, Names names)
      : spec_(spec) {
    for (const char* name : names) Restart(name);
    Found(founder, 7);
  }

  // Starts an agent of the node. An earlier one has ended.
  void Restart(const std::string& name) {
    ++incarnation_;
    Agent& one = agents_[name];
    one = {};
    Report& report = one.report;
    report.run_id = "train";
    report.spec = spec_;
    report.node.node_id = report.node.host = name;
    report.node.incarnation = incarnation_;
    report.node.address = absl::StrCat("10.0.0.", agents_.size());
    report.place_key = absl::StrCat("key ", incarnation_);
    report.offered_master_port = 29000;
    report.standby_endpoint = name;
  }
  // Lets the process coordinate as the job's founder.
  void Found(const std::string& process, uint64_t epoch) {
    processes_[process] = {.job = std::make_unique<Job>("train", epoch, spec_,
                                                        now_, "tag", process)};
  }

  Agent& agent(const std::string& name) { return agents_.at(name); }
  const Report& report(const std::string& name) { return agent(name).report; }
  bool coordinates(const std::string& process) {
    return processes_[process].job != nullptr;
  }
  // Two worlds that have run on all of their nodes at the same time; empty if
  // there were none.
  const std::string& split() const { return split_; }

  void End(const std::string& process) { processes_.erase(process); }
  // Lets the process stand by. `draw`: the random part of its epochs.
  void StandBy(const std::string& process, uint64_t draw) {
    processes_[process] = {.standby = std::make_unique<Standby>(
                               Standby::Kind::kSuccessor,
                               (uint64_t{1} << kDrawnEpochBits) | draw)};
  }
  // Once the next standby is elected, these agents get no directives any more.
  void DeafenWhenElected(Names names) {
    deafened_.assign(names.begin(), names.end());
  }

  void Connect(Names names, const std::string& process) {
    for (const char* name : names) {
      Cut({name});
      Agent& one = agent(name);
      one.process = process;
      one.stream = ++last_stream_;
      streams_[one.stream] = name;
      Send(name);
    }
  }
  void Cut(Names names) {
    for (const char* name : names) {
      const StreamId stream = std::exchange(agent(name).stream, 0);
      const auto found = processes_.find(agent(name).process);
      if (stream == 0 || found == processes_.end()) continue;
      if (found->second.job != nullptr) {
        Take(found->first, found->second.job->Step(now_, StreamClosed{stream}));
      } else if (found->second.standby != nullptr) {
        found->second.standby->Forget(stream);
      }
    }
  }
  void Deafen(Names names) {
    for (const char* name : names) agent(name).deaf = true;
  }
  // The agents get directives again. Reports that they should have sent in the
  // meantime are lost.
  void Hear(Names names) {
    for (const char* name : names) agent(name).deaf = false;
    due_.clear();
  }
  void Send(const std::string& name) {
    Agent& one = agent(name);
    const auto found = processes_.find(one.process);
    if (one.stream == 0 || found == processes_.end()) return;
    ++one.report.sequence;
    Process& process = found->second;
    if (process.job != nullptr) {
      Take(one.process,
           process.job->Step(now_, ReportArrived{one.stream, one.report,
                                                 one.report.node.address}));
    } else if (process.standby != nullptr) {
      Take(one.process, process.standby->Hear(now_, one.stream, one.report));
    }
  }

  // Advances the time; agents send keep-alives and answer directives.
  void Wait(Duration duration) {
    for (const Instant end = now_ + duration; now_ < end;) Tick();
  }
  // Like Wait, but returns when the agent has begun `round`. Nothing more is
  // sent after that moment.
  void WaitForRound(const std::string& name, int round) {
    stop_ = {name, round};
    for (int i = 0; i < 1000 && report(name).round < round; ++i) Tick();
    stop_ = {};
    due_.clear();
    ASSERT_EQ(report(name).round, round);
  }

 private:
  struct Process {
    std::unique_ptr<Job> job;
    std::unique_ptr<Standby> standby;
  };

  bool IsStopped() {
    return !stop_.first.empty() && report(stop_.first).round >= stop_.second;
  }
  void Flush() {
    for (int i = 0; i < 300 && !due_.empty() && !IsStopped(); ++i) {
      const std::string name = due_.front();
      due_.erase(due_.begin());
      Send(name);
    }
  }
  void Tick() {
    Flush();
    now_ += milliseconds(50);
    std::vector<std::string> names;
    for (const auto& [name, process] : processes_) names.push_back(name);
    for (const std::string& name : names) {
      Job* const job = processes_[name].job.get();
      if (job == nullptr || IsStopped()) continue;
      if (job->NextDeadline().value_or(Instant::max()) > now_) continue;
      Take(name, job->Step(now_, TimePassed()));
    }
    if (now_ >= next_keep_alive_) {
      next_keep_alive_ = now_ + seconds(1);
      for (const auto& [name, one] : agents_) {
        if (!IsStopped()) Send(name);
      }
    }
    Flush();
  }
  void Take(const std::string& process, const JobStep& step) {
    if (step.deposed) {
      StandBy(process, 500 + last_stream_);
      return;
    }
    for (const Delivery& delivery : step.deliveries) Deliver(delivery);
  }
  void Take(const std::string& process, const Standby::Step& step) {
    for (const Delivery& delivery : step.deliveries) Deliver(delivery);
    if (!step.elected.has_value() || coordinates(process)) return;
    const auto standby = std::move(processes_[process].standby);
    processes_[process].job = std::make_unique<Job>(
        "train", *step.elected, spec_, now_, "tag", process);
    for (const std::string& name : deafened_) agent(name).deaf = true;
    deafened_.clear();
    for (const auto& [stream, report] : standby->Replay()) {
      if (!coordinates(process)) return;
      Take(process,
           processes_[process].job->Step(
               now_, ReportArrived{stream, report, report.node.address}));
    }
  }
  void Deliver(const Delivery& delivery) {
    const auto found = streams_.find(delivery.stream);
    if (found == streams_.end()) return;
    Agent& one = agent(found->second);
    if (one.stream != delivery.stream || one.deaf) return;
    Obey(found->second, one.report, delivery.directive);
  }
  void Obey(const std::string& name, Report& report, const Directive& told) {
    if (told.kind == DirectiveKind::kMoved) return;
    const bool is_stand_by = told.kind == DirectiveKind::kStandBy;
    if (!is_stand_by && told.epoch < report.promised_epoch) return;
    const bool is_new =
        is_stand_by ? told.epoch > report.promised_epoch
                    : std::pair(told.epoch, told.revision) !=
                          std::pair(report.seen_epoch, report.seen_revision);
    report.promised_epoch = std::max(report.promised_epoch, told.epoch);
    if (is_new) due_.push_back(name);
    if (is_stand_by) return;
    report.seen_epoch = told.epoch;
    report.seen_revision = told.revision;
    if (told.electorate.epoch != 0) {
      report.electorate = told.electorate;
      report.host_rank = told.host_rank;
    }
    const bool stops =
        told.kind == DirectiveKind::kWait ||
        (told.kind == DirectiveKind::kStop && told.stop.round >= report.round);
    if (stops) report.phase = NodePhase::kIdle;
    const bool begins = told.kind == DirectiveKind::kRun &&
                        told.place.round > report.round &&
                        report.phase == NodePhase::kIdle;
    if (!begins) return;
    report.place = told.place;
    report.place->store_clients.clear();
    report.place->nccl_id.clear();
    report.round = told.place.round;
    report.phase = NodePhase::kRunning;
    Check();
  }
  void Check() {
    std::map<WorldId, int> missing;
    for (const auto& [name, one] : agents_) {
      if (one.report.phase != NodePhase::kRunning) continue;
      const Place& place = *one.report.place;
      const WorldId world = {.epoch = place.epoch, .round = place.round};
      --missing.try_emplace(world, place.group_world_size).first->second;
    }
    std::string complete;
    int count = 0;
    for (const auto& [world, nodes] : missing) {
      if (nodes > 0) continue;
      ++count;
      absl::StrAppend(&complete, " round ", world.round, " of epoch ",
                      world.epoch);
    }
    if (count > 1) split_ = complete;
  }

  const JobSpec spec_;
  Instant now_{std::chrono::hours(1)};
  Instant next_keep_alive_ = now_;
  std::map<std::string, Agent> agents_;
  std::map<std::string, Process> processes_;
  std::map<StreamId, std::string> streams_;  // the agent of each stream
  StreamId last_stream_ = 0;
  uint64_t incarnation_ = 1000;
  std::vector<std::string> due_;  // the agents that send a report next
  std::vector<std::string> deafened_;
  std::pair<std::string, int> stop_;
  std::string split_;
};

JobSpec SpecOf(int min_nodes, int max_nodes, Takeover takeover) {
  JobSpec spec = QuickSpec(min_nodes, max_nodes);
  spec.takeover = takeover;
  return spec;
}

// Lets the nodes run the job's first round, with the coordinator in `process`.
void RunRoundOne(Succession& job, Names names, const std::string& process) {
  job.Connect(names, process);
  job.Wait(seconds(6));
  for (const char* name : {"a", "b"}) ASSERT_EQ(job.report(name).round, 1);
}

// The nodes `lost` are cut off from the coordinator in `process`. The nodes
// `others` are there to take part in the next round.
void ReplaceNodes(Succession& job, Names lost, Names others,
                  const std::string& process) {
  job.Connect(others, process);
  job.Wait(seconds(2));
  job.Cut(lost);
}

// Round 1 runs on nodes a, b, c and d, and round 2 on nodes a, b and f. Node f
// coordinates. It learns that round 2 is the electorate, and is then cut off.
// Node c is elected, learns of round 2 from node a, and stops it. Then the
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
    job.Connect({"b"}, "f");  // deposes the coordinator on f
    job.Wait(milliseconds(200));
    job.Connect({"f", "b"}, "f");
    job.Wait(seconds(40));
    EXPECT_THAT(job.split(), IsEmpty());
  }
}

// Nodes a, b, e and f run round 2 after nodes a to d have run round 1. The next
// coordinator stops round 2, but only nodes c and d hear it, and is lost. Node
// d is elected with node a, which is cut off at once.
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
  job.Wait(seconds(1));
  job.Hear({"b", "c"});
  job.Connect({"b", "c"}, "a");
  job.Cut({"a", "b", "c"});
  job.Hear({});
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

// The job has takeover=auto and six nodes. Nodes p, q, x and r run round 2.
// Only node x learns that they are the electorate. The agent of node r is
// started again. Node a is elected without node x. It gives round 2 up, because
// five of the six nodes are connected to it. Nodes p and q are cut off before
// they learn of this, and elect node x. Only one of the two coordinators may
// begin a world.
TEST(SuccessionTest, NodesThatHaveNotHeardOfTheElectorateMayBeElsewhere) {
  Succession job(SpecOf(3, 6, Takeover::kAuto), "z",
                 {"a", "b", "p", "q", "x", "r"});
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
  for (const char* name : {"a", "b", "p", "q", "x"}) {
    job.agent(name).report.phase = NodePhase::kIdle;
  }
  job.Restart("r");
  job.StandBy("a", 11);
  job.Connect({"a", "b", "p", "q", "r"}, "a");
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

// Only node a has begun round 2 when its coordinator is lost. The next one, on
// node c, tells nodes b, c and d an epoch, so that round 2 is void, and is
// lost, too. All nodes come to node d.
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
  job.StandBy("c", 11);
  job.Connect({"b", "c", "d"}, "c");
  job.Wait(seconds(1));
  ASSERT_GT(job.report("d").electorate.epoch, 7u);
  job.Cut({"b", "c", "d"});
  job.Hear({});
  job.End("c");
  job.StandBy("d", 12);
  job.Connect({"a", "b", "c", "d", "e", "f"}, "d");
  job.Wait(seconds(20));
  EXPECT_EQ(job.report("d").phase, NodePhase::kRunning);
}

// The agents of all nodes of round 1 are started again, and the founder. Node
// s, a spare, knows the electorate.
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
  job.StandBy("b", 11);
  job.Connect({"z", "a", "b"}, "b");
  job.Wait(seconds(1));
  EXPECT_EQ(job.report("a").phase, NodePhase::kRunning);
}

}  // namespace
}  // namespace muster::rendezvous
