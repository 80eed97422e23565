#include "rendezvous/server/coordinator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/channel_key.h"
#include "base/monotonic_clock.h"
#include "base/unix_time.h"
#include "rendezvous/quarantine/node_memory.h"
#include "rendezvous/testing/scripted_node.h"
#include "rendezvous/wire/memory_wire.h"

namespace muster::rendezvous {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr seconds kMaxWait(30);

// A sink that keeps the newest directive. As DirectiveSink requires, it drops a
// directive that is older than the one that it already has.
class FakeSink : public DirectiveSink {
 public:
  void Deliver(const Directive& directive) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (newest_.has_value() && newest_->epoch == directive.epoch &&
        directive.revision < newest_->revision) {
      return;
    }
    newest_ = directive;
    changed_.notify_all();
  }

  // Waits for a directive of `kind`; fails the test after kMaxWait.
  Directive WaitFor(DirectiveKind kind) {
    const bool in_time = Receives(kind, MonotonicNow() + kMaxWait);
    const std::optional<Directive> newest = this->newest();
    EXPECT_TRUE(in_time) << "no directive of kind " << static_cast<int>(kind)
                         << "; newest: " << (newest ? newest->reason : "none");
    return newest.value_or(Directive());
  }
  // Waits for a directive of `kind`; returns false at `deadline`.
  bool Receives(DirectiveKind kind, Instant deadline) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_until(lock, ToSteady(deadline), [&] {
      return newest_.has_value() && newest_->kind == kind;
    });
  }
  std::optional<Directive> newest() {
    std::lock_guard<std::mutex> lock(mutex_);
    return newest_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Directive> newest_;
};

// An agent that is attached to the coordinator.
class Attached {
 public:
  Attached(Coordinator* coordinator, Report first, std::string peer = "",
           std::string principal = "")
      : coordinator_(coordinator),
        report_(std::move(first)),
        stream_(coordinator->Attach(&sink_, std::move(peer),
                                    std::move(principal))) {
    EXPECT_EQ(Send(), absl::OkStatus());
  }
  ~Attached() { coordinator_->Detach(stream_); }

  absl::Status Send() {
    ++report_.sequence;
    if (auto newest = sink_.newest()) {
      report_.seen_epoch = newest->epoch;
      report_.seen_revision = newest->revision;
    }
    return coordinator_->OnReport(stream_, report_);
  }
  Report& report() { return report_; }
  Directive WaitFor(DirectiveKind kind) { return sink_.WaitFor(kind); }
  // Sends reports at the keep-alive interval until a directive of `kind`
  // arrives. Fails the test after kMaxWait.
  void ReportUntil(DirectiveKind kind) {
    const Instant deadline = MonotonicNow() + kMaxWait;
    do {
      ASSERT_LT(MonotonicNow(), deadline)
          << "no directive of kind " << static_cast<int>(kind);
      EXPECT_EQ(Send(), absl::OkStatus());
    } while (!sink_.Receives(
        kind, MonotonicNow() + report_.spec.keep_alive_interval));
  }
  StreamId stream() const { return stream_; }
  // The inquiries in the newest directive. A call of Coordinator::Inquire or
  // EndInquiry changes them before it returns.
  std::vector<Inquiry> inquiries() { return sink_.newest()->inquiries; }
  Directive newest() { return sink_.newest().value_or(Directive()); }

 private:
  Coordinator* const coordinator_;
  FakeSink sink_;
  Report report_;
  const StreamId stream_;
};

// Waits until the coordinator has handled the alarms that are due within a
// millisecond, and the journal's callbacks for the records queued so far.
//
// To do so, starts a job that no node joins in time, and waits for its verdict.
// The verdict comes last: alarms are called in the order of their times, and
// the journal calls back in the order of the records.
void AwaitAlarms(Coordinator* coordinator) {
  Report report = FirstReport("alone", "node-z", 2);
  report.spec.join_timeout = milliseconds(1);
  Attached alone(coordinator, report);
  EXPECT_EQ(alone.WaitFor(DirectiveKind::kFinished).verdict.outcome,
            Outcome::kTimedOut);
}

TEST(CoordinatorTest, TheFirstReportMakesTheJob) {
  Coordinator coordinator({});
  EXPECT_THAT(coordinator.ListJobs(), SizeIs(0));
  Attached a(&coordinator, FirstReport("job", "node-a", 2));
  a.WaitFor(DirectiveKind::kWait);
  Attached b(&coordinator, FirstReport("job", "node-b", 2));
  EXPECT_EQ(a.WaitFor(DirectiveKind::kRun).place.group_rank, 0);
  EXPECT_EQ(b.WaitFor(DirectiveKind::kRun).place.group_rank, 1);
  EXPECT_THAT(coordinator.ListJobs(), SizeIs(1));
  EXPECT_THAT(coordinator.ListJobs()[0].nodes, SizeIs(0));
  EXPECT_THAT(coordinator.GetJob("job")->nodes, SizeIs(2));
}

TEST(CoordinatorTest, JobsDoNotMeet) {
  Coordinator coordinator({});
  Attached a(&coordinator, FirstReport("job-1", "node-a", 1));
  Attached b(&coordinator, FirstReport("job-2", "node-b", 1));
  const Directive to_a = a.WaitFor(DirectiveKind::kRun);
  const Directive to_b = b.WaitFor(DirectiveKind::kRun);
  EXPECT_EQ(to_a.place.group_world_size, 1);
  EXPECT_EQ(to_b.place.group_world_size, 1);
  EXPECT_NE(to_a.epoch, to_b.epoch);
}

TEST(CoordinatorTest, DrawsATagForEachRun) {
  Coordinator coordinator({});
  std::set<std::string> tags;
  for (const char* run_id : {"one", "two", "three"}) {
    Attached agent(&coordinator, FirstReport(run_id, "a", 1));
    const std::string tag = agent.WaitFor(DirectiveKind::kRun).place.run_tag;
    EXPECT_EQ(tag.size(), 8u) << tag;
    tags.insert(tag);
  }
  EXPECT_EQ(tags.size(), 3u);
}

TEST(CoordinatorTest, GivesTheRunTheTagThatItWasGiven) {
  Coordinator coordinator({.run_tag = "mine"});
  Attached agent(&coordinator, FirstReport("one", "a", 1));
  EXPECT_EQ(agent.WaitFor(DirectiveKind::kRun).place.run_tag, "mine");
}

Report EncryptedReport(const std::string& run_id, const std::string& host,
                       int nodes) {
  Report report = FirstReport(run_id, host, nodes);
  report.spec.encryption = Encryption::kWorkers;
  return report;
}

TEST(CoordinatorTest, NodesOfARoundGetOneKeyAndJobsGetTheirOwn) {
  Coordinator coordinator({});
  Attached a(&coordinator, EncryptedReport("one", "a", 2));
  EXPECT_EQ(a.WaitFor(DirectiveKind::kWait).place.channel_key, "");
  Attached b(&coordinator, EncryptedReport("one", "b", 2));
  Attached other(&coordinator, EncryptedReport("two", "c", 1));
  Attached plain(&coordinator, FirstReport("three", "d", 1));
  const std::string key = a.WaitFor(DirectiveKind::kRun).place.channel_key;
  EXPECT_EQ(key.size(), kChannelKeyBytes);
  EXPECT_EQ(b.WaitFor(DirectiveKind::kRun).place.channel_key, key);
  EXPECT_NE(other.WaitFor(DirectiveKind::kRun).place.channel_key, key);
  EXPECT_EQ(plain.WaitFor(DirectiveKind::kRun).place.channel_key, "");
}

TEST(CoordinatorTest, AJobThatEncryptsRefusesANodeThatDoesNot) {
  Coordinator coordinator({});
  Attached a(&coordinator, EncryptedReport("job", "a", 2));
  a.WaitFor(DirectiveKind::kWait);
  Attached b(&coordinator, FirstReport("job", "b", 2));
  const Directive refused = b.WaitFor(DirectiveKind::kRefused);
  EXPECT_THAT(refused.reason, HasSubstr("--encrypt=workers"));
  EXPECT_EQ(refused.place.channel_key, "");
}

TEST(CoordinatorTest, AnUnsoundFirstReportIsRefusedAndMakesNoJob) {
  Coordinator coordinator({});
  Report report = FirstReport("job", "node-a", 1);
  report.protocol_version = 99;
  Attached a(&coordinator, report);
  EXPECT_THAT(a.WaitFor(DirectiveKind::kRefused).reason, HasSubstr("version"));
  Report empty = FirstReport("", "node-b", 1);
  Attached b(&coordinator, empty);
  EXPECT_NE(b.WaitFor(DirectiveKind::kRefused).reason, "");
  Report no_nodes = FirstReport("job", "node-c", 0);
  Attached c(&coordinator, no_nodes);
  EXPECT_NE(c.WaitFor(DirectiveKind::kRefused).reason, "");
  EXPECT_THAT(coordinator.ListJobs(), SizeIs(0));
}

TEST(CoordinatorTest, ARefusalIsNeverTakenForOutdated) {
  Coordinator coordinator({});
  Attached a(&coordinator, FirstReport("job", "node-a", 1));
  a.WaitFor(DirectiveKind::kRun);
  a.report().node.slots = 0;
  EXPECT_EQ(a.Send(), absl::OkStatus());
  EXPECT_THAT(a.WaitFor(DirectiveKind::kRefused).reason,
              HasSubstr("0 workers"));
}

TEST(CoordinatorTest, AStreamSpeaksForOneNode) {
  Coordinator coordinator({});
  const Report first = FirstReport("job", "node-a", 2);
  Attached a(&coordinator, first);
  a.WaitFor(DirectiveKind::kWait);
  for (const Report& other :
       {FirstReport("other", "node-a", 2), FirstReport("job", "node-b", 2)}) {
    a.report() = other;
    EXPECT_EQ(a.Send().code(), absl::StatusCode::kInvalidArgument);
  }
  a.report() = first;
  ++a.report().node.incarnation;
  EXPECT_EQ(a.Send().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(coordinator.ListJobs(), SizeIs(1));
  EXPECT_THAT(coordinator.GetJob("job")->nodes, SizeIs(1));
}

TEST(CoordinatorTest, JobsOfOneReportDoNotFillIt) {
  Coordinator coordinator({.max_jobs = 20});
  for (int i = 0; i < 50; ++i) {
    Attached stranger(&coordinator,
                      FirstReport("stranger-" + std::to_string(i), "x", 2));
    stranger.WaitFor(DirectiveKind::kWait);
  }
  Attached honest(&coordinator, FirstReport("job", "a", 1));
  honest.WaitFor(DirectiveKind::kRun);
  EXPECT_LE(coordinator.ListJobs().size(), 20u);
}

TEST(CoordinatorTest, AJobThatAnAgentWaitsInIsNotForgotten) {
  Coordinator coordinator({.max_jobs = 2});
  Attached a(&coordinator, FirstReport("job", "a", 2));
  { Attached gone(&coordinator, FirstReport("job", "b", 3)); }
  {
    Attached back(&coordinator, FirstReport("other", "c", 2));
    back.WaitFor(DirectiveKind::kWait);
  }
  Attached again(&coordinator, FirstReport("other", "c2", 2));
  again.WaitFor(DirectiveKind::kWait);
  Attached third(&coordinator, FirstReport("third", "d", 1));
  EXPECT_THAT(third.WaitFor(DirectiveKind::kRefused).reason,
              HasSubstr("already has 2 jobs"));
  EXPECT_THAT(coordinator.GetJob("job")->nodes, SizeIs(1));
}

TEST(CoordinatorTest, OneAddressBeginsABoundedNumberOfJobs) {
  Coordinator coordinator({.max_jobs_per_peer = 2});
  Attached one(&coordinator, FirstReport("job-1", "a", 2), "10.0.0.1");
  Attached two(&coordinator, FirstReport("job-2", "a", 1), "10.0.0.1");
  two.WaitFor(DirectiveKind::kRun);
  Attached three(&coordinator, FirstReport("job-3", "a", 2), "10.0.0.1");
  const std::string why = three.WaitFor(DirectiveKind::kRefused).reason;
  EXPECT_THAT(why, HasSubstr("2 unfinished jobs were begun from 10.0.0.1"));
  EXPECT_THAT(why, HasSubstr("token"));
  Attached joins(&coordinator, FirstReport("job-1", "b", 2), "10.0.0.1");
  joins.WaitFor(DirectiveKind::kRun);
  Attached other(&coordinator, FirstReport("job-4", "a", 2), "10.0.0.2");
  other.WaitFor(DirectiveKind::kWait);
  ASSERT_TRUE(coordinator.CancelJob("job-2", "enough").ok());
  two.WaitFor(DirectiveKind::kStop);
  two.report().round = 1;
  EXPECT_EQ(two.Send(), absl::OkStatus());
  two.WaitFor(DirectiveKind::kFinished);
  Attached four(&coordinator, FirstReport("job-5", "a", 2), "10.0.0.1");
  four.WaitFor(DirectiveKind::kWait);
}

TEST(CoordinatorTest, OnePrincipalBeginsABoundedNumberOfJobs) {
  Coordinator coordinator(
      {.max_jobs_per_peer = 1, .max_jobs_per_principal = 2});
  Attached one(&coordinator, FirstReport("job-1", "a", 2), "10.0.0.1", "ada");
  Attached two(&coordinator, FirstReport("job-2", "a", 2), "10.0.0.2", "ada");
  Attached three(&coordinator, FirstReport("job-3", "a", 2), "10.0.0.3", "ada");
  EXPECT_THAT(three.WaitFor(DirectiveKind::kRefused).reason,
              HasSubstr("ada has 2 unfinished jobs"));
  Attached other(&coordinator, FirstReport("job-3", "a", 2), "10.0.0.1", "bob");
  other.WaitFor(DirectiveKind::kWait);
  ASSERT_TRUE(coordinator.CancelJob("job-2", "enough").ok());
  two.WaitFor(DirectiveKind::kFinished);
  Attached four(&coordinator, FirstReport("job-4", "a", 2), "10.0.0.1", "ada");
  four.WaitFor(DirectiveKind::kWait);
}

TEST(CoordinatorTest, AJoinTimeOutMayBeBounded) {
  Coordinator coordinator({.max_join_timeout = std::chrono::hours(24)});
  Report report = FirstReport("job", "a", 2);
  report.spec.join_timeout = std::chrono::hours(24 * 365);
  Attached a(&coordinator, report);
  EXPECT_THAT(a.WaitFor(DirectiveKind::kRefused).reason,
              HasSubstr("without a token at most 86400 s"));
  EXPECT_THAT(coordinator.ListJobs(), SizeIs(0));
}

TEST(CoordinatorTest, TimePassesByItself) {
  Coordinator coordinator({});
  Report report = FirstReport("job", "node-a", 2);
  report.spec.join_timeout = milliseconds(20);
  Attached a(&coordinator, report);
  EXPECT_EQ(a.WaitFor(DirectiveKind::kFinished).verdict.outcome,
            Outcome::kTimedOut);
}

TEST(CoordinatorTest, ASilentNodeIsLostAlthoughOthersReport) {
  Coordinator coordinator({});
  Report report = FirstReport("job", "node-a", 2);
  report.spec.keep_alive_interval = milliseconds(20);
  // Makes the lease so long that neither agent is lost before both have joined.
  report.spec.keep_alive_misses = 100;
  Attached a(&coordinator, report);
  report.node.node_id = report.node.host = "node-b";
  Attached b(&coordinator, report);
  a.WaitFor(DirectiveKind::kRun);
  // Agent b sends no more reports, so it is lost, and its loss ends the round.
  a.ReportUntil(DirectiveKind::kStop);
  EXPECT_THAT(coordinator.GetJob("job")->nodes, SizeIs(1));
}

TEST(CoordinatorTest, DetachingIsNoticed) {
  Coordinator coordinator({});
  Report report = FirstReport("job", "node-a", 2);
  report.spec.reconnect_grace = Duration::zero();
  Attached a(&coordinator, report);
  report.node.node_id = report.node.host = "node-b";
  std::optional<Attached> b;
  b.emplace(&coordinator, report);
  a.WaitFor(DirectiveKind::kRun);
  b.reset();
  a.WaitFor(DirectiveKind::kStop);
}

TEST(CoordinatorTest, DecisionsReachLogAndWatchers) {
  std::mutex mutex;
  std::vector<std::string> logged;
  Coordinator::Options options;
  options.on_decision = [&](const std::string& run_id, const Decision& d) {
    std::lock_guard<std::mutex> lock(mutex);
    logged.push_back(run_id + " " + d.kind);
  };
  Coordinator coordinator(std::move(options));
  DecisionCursor cursor;
  EXPECT_EQ(
      coordinator.Watch("job", &cursor, [](const Decision&) {}).status().code(),
      absl::StatusCode::kNotFound);
  Attached a(&coordinator, FirstReport("job", "node-a", 2));
  std::vector<std::string> watched;
  const auto watch = coordinator.Watch("job", &cursor, [&](const Decision& d) {
    std::lock_guard<std::mutex> lock(mutex);
    watched.push_back(d.node_id);
  });
  ASSERT_TRUE(watch.ok());
  Attached b(&coordinator, FirstReport("job", "node-b", 2));
  coordinator.Unwatch(watch->id);
  const size_t seen = watched.size();
  EXPECT_TRUE(coordinator.CancelJob("job", "test").ok());
  std::lock_guard<std::mutex> lock(mutex);
  ASSERT_THAT(logged, SizeIs(::testing::Ge(2)));
  EXPECT_EQ(logged[0], "job join");
  ASSERT_GE(watched.size(), 1u);
  EXPECT_EQ(watched[0], "node-b");
  EXPECT_EQ(watched.size(), seen);
}

TEST(CoordinatorTest, FinishedJobsTellLateComersHowTheyEnded) {
  Coordinator coordinator({});
  Attached a(&coordinator, FirstReport("job", "node-a", 2));
  EXPECT_TRUE(coordinator.CancelJob("job", "test").ok());
  a.WaitFor(DirectiveKind::kFinished);
  Attached late(&coordinator, FirstReport("job", "node-b", 2));
  EXPECT_THAT(late.WaitFor(DirectiveKind::kRefused).reason, HasSubstr("over"));
  EXPECT_THAT(coordinator.ListJobs(), SizeIs(1));
}

TEST(CoordinatorTest, FinishedJobsAreForgottenAfterAWhile) {
  Coordinator::Options options;
  options.keep_finished = Duration::zero();
  Coordinator coordinator(std::move(options));
  Attached a(&coordinator, FirstReport("job", "node-a", 2));
  ASSERT_TRUE(coordinator.CancelJob("job", "test").ok());
  AwaitAlarms(&coordinator);
  EXPECT_TRUE(absl::IsNotFound(coordinator.GetJob("job").status()));
  // A new job may use the name of the forgotten one. An agent that is still
  // attached to the old job gets the old verdict.
  Attached b(&coordinator, FirstReport("job", "node-b", 1));
  b.WaitFor(DirectiveKind::kRun);
  EXPECT_EQ(a.Send(), absl::OkStatus());
  a.WaitFor(DirectiveKind::kFinished);
}

TEST(CoordinatorTest, FinishedJobsAreBoundedInNumber) {
  Coordinator::Options options;
  options.max_finished_jobs = 2;
  Coordinator coordinator(std::move(options));
  for (const char* run_id : {"a", "b", "c", "d"}) {
    Attached node(&coordinator, FirstReport(run_id, "node", 2));
    ASSERT_TRUE(coordinator.CancelJob(run_id, "test").ok());
  }
  const auto jobs = coordinator.ListJobs();
  ASSERT_THAT(jobs, SizeIs(2));
  EXPECT_EQ(jobs[0].run_id, "c");
  EXPECT_EQ(jobs[1].run_id, "d");
}

TEST(CoordinatorTest, JobsAreBoundedAndFinishedOnesMakeRoom) {
  Coordinator::Options options;
  options.max_jobs = 2;
  Coordinator coordinator(std::move(options));
  Attached a(&coordinator, FirstReport("a", "node-a", 2));
  Attached b(&coordinator, FirstReport("b", "node-b", 2));
  Attached c(&coordinator, FirstReport("c", "node-c", 2));
  EXPECT_THAT(c.WaitFor(DirectiveKind::kRefused).reason,
              HasSubstr("already has 2 jobs"));
  ASSERT_TRUE(coordinator.CancelJob("a", "test").ok());
  Attached d(&coordinator, FirstReport("d", "node-d", 2));
  d.WaitFor(DirectiveKind::kWait);
  EXPECT_EQ(coordinator.GetJob("a").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(CoordinatorTest, AnotherJobIsRefusedWhereOnlyOneMayMeet) {
  Coordinator::Options options;
  options.only_run_id = "a";
  Coordinator coordinator(std::move(options));
  Attached a(&coordinator, FirstReport("a", "node-a", 2));
  a.WaitFor(DirectiveKind::kWait);
  Attached b(&coordinator, FirstReport("b", "node-b", 2));
  EXPECT_THAT(b.WaitFor(DirectiveKind::kRefused).reason,
              HasSubstr("belongs to job \"a\", not to \"b\""));
  EXPECT_TRUE(b.WaitFor(DirectiveKind::kRefused).another_job);
  EXPECT_THAT(coordinator.ListJobs(), SizeIs(1));
}

TEST(CoordinatorTest, AnUnknownJobIsAnsweredWithTheKnownOnes) {
  Coordinator coordinator({});
  EXPECT_THAT(std::string(coordinator.GetJob("x").status().message()),
              HasSubstr("nor any other"));
  Attached a(&coordinator, FirstReport("job-1", "node-a", 2));
  Attached b(&coordinator, FirstReport("job-2", "node-b", 2));
  EXPECT_THAT(std::string(coordinator.GetJob("x").status().message()),
              HasSubstr("job-1, job-2"));
  std::vector<std::unique_ptr<Attached>> many;
  many.reserve(100);
  for (int i = 0; i < 100; ++i) {
    many.push_back(std::make_unique<Attached>(
        &coordinator,
        FirstReport(std::string(200, 'x') + std::to_string(i), "node", 2)));
  }
  const std::string message(coordinator.GetJob("x").status().message());
  EXPECT_LT(message.size(), 1000u);
  EXPECT_THAT(message, HasSubstr("more"));
}

TEST(CoordinatorTest, AnOrderAboutAMachineIsRecordedWithoutAJob) {
  std::vector<std::string> recorded;
  Coordinator::Options options;
  options.on_decision = [&](const std::string& run_id, const Decision& one) {
    recorded.push_back(absl::StrCat(run_id, "|", one.kind, "|", one.reason));
  };
  Coordinator coordinator(std::move(options));
  EXPECT_TRUE(absl::IsNotFound(coordinator.FreeHost("h", "ada")));
  ASSERT_TRUE(coordinator.BanHost("h", "broken fan, as ada").ok());
  ASSERT_TRUE(coordinator.FreeHost("h", "ada").ok());
  ASSERT_TRUE(coordinator.FreeHost("h", "").ok());
  EXPECT_THAT(recorded,
              ElementsAre("|order|h is banned: broken fan, as ada",
                          "|order|h is freed by ada", "|order|h is freed"));
}

TEST(CoordinatorTest, AJudgementHoldsForAllJobs) {
  Coordinator coordinator({});
  ASSERT_TRUE(coordinator.BanHost("node-a", "broken fan").ok());
  Attached one(&coordinator, FirstReport("one", "node-a", 1), "10.0.0.1");
  Attached two(&coordinator, FirstReport("two", "node-a", 1), "10.0.0.1");
  for (Attached* const node : {&one, &two}) {
    EXPECT_THAT(node->WaitFor(DirectiveKind::kWait).reason,
                HasSubstr("banned: broken fan"));
  }
  EXPECT_TRUE(absl::IsNotFound(coordinator.FreeHost("node-b", "")));
  ASSERT_TRUE(coordinator.FreeHost("node-a", "ada").ok());
  one.WaitFor(DirectiveKind::kRun);
  two.WaitFor(DirectiveKind::kRun);
  ASSERT_THAT(coordinator.ListHosts(), SizeIs(1));
  EXPECT_EQ(coordinator.ListHosts()[0].judgement.reason, "freed by ada");
}

TEST(CoordinatorTest, FaultsOfOneJobCountInTheNext) {
  std::vector<HostWatch::Notice> notices;
  Coordinator::Options options;
  options.on_quarantine = [&](const HostWatch::Notice& notice) {
    notices.push_back(notice);
  };
  Coordinator coordinator(std::move(options));
  {
    Attached one(&coordinator, FirstReport("one", "node-a", 2), "10.0.0.1");
    for (uint64_t i = 1; i <= 3; ++i) {
      one.report().faults.push_back(
          {.ordinal = i, .kind = FaultKind::kCheck, .text = "no disk"});
    }
    EXPECT_TRUE(one.Send().ok());
  }
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_EQ(notices[0].key.host, "node-a");
  EXPECT_EQ(notices[0].run_id, "one");
  Attached two(&coordinator, FirstReport("two", "node-a", 1), "10.0.0.1");
  two.WaitFor(DirectiveKind::kRun);
  const auto status = coordinator.GetJob("two");
  ASSERT_TRUE(status.ok());
  ASSERT_THAT(status->nodes, SizeIs(1));
  EXPECT_EQ(status->nodes[0].judgement.state, HostState::kQuarantined);
  EXPECT_EQ(status->nodes[0].judgement.reason, "no disk");
}

// Each report contains a fault, so the job judges the machines at each report.
// At one of these reports the check by pairs (--network-check) ends and finds
// that node-b is slow. The coordinator must record that node-b is slow, besides
// the faults in the reports.
TEST(CoordinatorTest, AFaultThatIsFoundWhileMachinesAreJudgedCounts) {
  Coordinator coordinator({});
  std::vector<std::unique_ptr<Attached>> nodes;
  for (const char* const host : {"node-a", "node-b", "node-c"}) {
    Report report = FirstReport("job", host, 2);
    report.spec.network_check = NetworkCheckTime::kStart;
    report.node.address = "10.0.0.1";
    report.check_port = 4000;
    nodes.push_back(std::make_unique<Attached>(&coordinator, report, host));
  }
  for (int i = 0; i < 20; ++i) {
    Attached& node = *nodes[i % nodes.size()];
    const Directive told = node.newest();
    if (!told.pair_check.has_value()) continue;
    const bool is_slow = node.report().node.host == "node-b" ||
                         told.pair_check->partner == "node-b";
    node.report().measurement =
        PairMeasurement{.epoch = told.epoch,
                        .number = told.pair_check->number,
                        .round_trip_s = 0.001,
                        .bytes_per_s = is_slow ? 1e7 : 1e9,
                        .compute_s = 0.01};
    node.report().faults = {{.ordinal = static_cast<uint64_t>(i + 1),
                             .kind = FaultKind::kXid,
                             .text = "XID 79"}};
    EXPECT_TRUE(node.Send().ok());
  }
  nodes[0]->WaitFor(DirectiveKind::kRun);
  std::map<std::string, std::string> reasons;
  for (const HostStatus& host : coordinator.ListHosts()) {
    reasons[host.key.host] = host.judgement.reason;
  }
  EXPECT_THAT(reasons["node-b"], HasSubstr("in the check by pairs"));
}

TEST(CoordinatorTest, DrainDistinguishesUnknownAndNeededNodes) {
  Coordinator coordinator({});
  Attached a(&coordinator, FirstReport("job", "node-a", 1));
  a.WaitFor(DirectiveKind::kRun);
  EXPECT_EQ(coordinator.DrainNode("job", "node-x").code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(coordinator.DrainNode("job", "node-a").code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(CoordinatorTest, IsDesertedOnceAllIsFinishedAndGone) {
  Coordinator coordinator({});
  EXPECT_TRUE(coordinator.WaitUntilDeserted(Duration::zero()));
  {
    Attached a(&coordinator, FirstReport("job", "node-a", 2));
    EXPECT_FALSE(coordinator.WaitUntilDeserted(milliseconds(1)));
    ASSERT_TRUE(coordinator.CancelJob("job", "test").ok());
    EXPECT_FALSE(coordinator.WaitUntilDeserted(milliseconds(1)));
  }
  EXPECT_TRUE(coordinator.WaitUntilDeserted(hours(1)));
}

TEST(CoordinatorTest, AnUnfinishedJobIsNotDesertedByItsNodes) {
  Coordinator coordinator({});
  {
    Attached a(&coordinator, FirstReport("job", "node-a", 2));
    a.WaitFor(DirectiveKind::kWait);
  }
  EXPECT_FALSE(coordinator.WaitUntilDeserted(milliseconds(1)));
}

// Node b's connection breaks just before the job ends. The coordinator must
// wait until b has reconnected and received the verdict.
TEST(CoordinatorTest, WaitsForNodesThatHaveNotGotTheVerdict) {
  Coordinator coordinator({});
  Report away = FirstReport("job", "node-b", 3);
  away.spec.reconnect_grace = hours(1);
  {
    Report report = FirstReport("job", "node-a", 3);
    report.spec.reconnect_grace = hours(1);
    Attached a(&coordinator, report);
    {
      Attached b(&coordinator, away);
      b.WaitFor(DirectiveKind::kWait);
      away = b.report();
    }
    ASSERT_TRUE(coordinator.CancelJob("job", "test").ok());
    a.WaitFor(DirectiveKind::kFinished);
  }
  EXPECT_FALSE(coordinator.WaitUntilDeserted(milliseconds(1)));
  {
    Attached b(&coordinator, away);
    b.WaitFor(DirectiveKind::kFinished);
  }
  // Node b has its verdict now, so the wait ends at once instead of after b's
  // reconnect grace.
  EXPECT_TRUE(coordinator.WaitUntilDeserted(milliseconds(1)));
}

// Sinks are detached while directives for them are being delivered by other
// threads. A sink must not be called after Detach has returned.
TEST(CoordinatorTest, NodesComeAndGoFromManyThreads) {
  Coordinator::Options options;
  options.on_decision = [](const std::string&, const Decision&) {};
  Coordinator coordinator(std::move(options));
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&coordinator, t] {
      for (int i = 0; i < 40; ++i) {
        Report report = FirstReport("job", "node-" + std::to_string(t), 4);
        report.node.incarnation = 1 + i;
        report.spec.min_nodes = 1;
        report.spec.reconnect_grace = Duration::zero();
        Attached node(&coordinator, report);
        for (int k = 0; k < 5; ++k) EXPECT_EQ(node.Send(), absl::OkStatus());
      }
    });
  }
  std::thread operators([&coordinator] {
    for (int i = 0; i < 100; ++i) {
      DecisionCursor cursor;
      auto watch = coordinator.Watch("job", &cursor, [](const Decision&) {});
      coordinator.ListJobs();
      if (watch.ok()) coordinator.Unwatch(watch->id);
    }
  });
  for (std::thread& thread : threads) thread.join();
  operators.join();
  EXPECT_TRUE(coordinator.GetJob("job").ok());
}

TEST(CoordinatorTest, ThousandNodesGetTheirPlaces) {
  constexpr int kNodes = 1000;
  Coordinator coordinator({});
  std::vector<std::unique_ptr<Attached>> nodes;
  nodes.reserve(kNodes);
  for (int i = 0; i < kNodes; ++i) {
    nodes.push_back(std::make_unique<Attached>(
        &coordinator, FirstReport("job", "node" + std::to_string(i), kNodes)));
  }
  for (int i = 0; i < kNodes; ++i) {
    const Directive run = nodes[i]->WaitFor(DirectiveKind::kRun);
    ASSERT_EQ(run.place.group_rank, i);
    ASSERT_EQ(run.place.group_world_size, kNodes);
  }
}

class CoordinatorJournalTest : public ::testing::Test {
 protected:
  CoordinatorJournalTest() {
    folder_ = ::testing::TempDir() + "/journal-XXXXXX";
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~CoordinatorJournalTest() override { std::filesystem::remove_all(folder_); }

  // Options of a coordinator that continues the jobs in `folder_`.
  Coordinator::Options Options() {
    Coordinator::Options options;
    auto opened = OpenJournal(folder_);
    EXPECT_TRUE(opened.ok()) << opened.status();
    options.journal = std::move(opened->journal);
    options.kept = std::move(opened->kept);
    return options;
  }

  std::string folder_;
};

// A journal backend that counts the writes, or refuses all of them.
class CountingMedium : public JournalBackend {
 public:
  CountingMedium(std::atomic<int>* written, absl::Status answer)
      : written_(written), answer_(std::move(answer)) {}

  absl::StatusOr<PendingRecords::Refused> Write(
      const PendingRecords::Batch&) override {
    if (!answer_.ok()) return answer_;
    ++*written_;
    return PendingRecords::Refused();
  }
  std::map<std::string, std::string> TakeRecords() override { return {}; }
  uint64_t epoch() const override { return 1; }

 private:
  std::atomic<int>* const written_;
  const absl::Status answer_;
};

std::unique_ptr<Journal> JournalOn(std::atomic<int>* written,
                                   const absl::Status& answer) {
  auto journal = Journal::OpenOn(
      "medium",
      [=]() -> absl::StatusOr<std::unique_ptr<JournalBackend>> {
        return std::make_unique<CountingMedium>(written, answer);
      },
      {});
  EXPECT_TRUE(journal.ok()) << journal.status();
  return *std::move(journal);
}

TEST(CoordinatorOrderTest, AnOrderAboutAMachineIsDurableBeforeItsAnswer) {
  std::atomic<int> written = 0;
  Coordinator coordinator({.journal = JournalOn(&written, absl::OkStatus())});
  EXPECT_EQ(coordinator.BanHost("a", "broken fan"), absl::OkStatus());
  EXPECT_EQ(written, 1);
  EXPECT_EQ(coordinator.FreeHost("a", ""), absl::OkStatus());
  EXPECT_EQ(written, 2);
}

TEST(CoordinatorOrderTest, SaysThatAnOrderIsNotDurable) {
  std::atomic<int> written = 0;
  Coordinator coordinator(
      {.journal = JournalOn(&written,
                            absl::ResourceExhaustedError("the disk is full"))});
  for (const absl::Status& status : {coordinator.BanHost("a", "broken fan"),
                                     coordinator.FreeHost("a", "")}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("it is done, but not durable"),
                      HasSubstr("the disk is full")));
  }
}

TEST_F(CoordinatorJournalTest, ARoundGoesOnInTheNextCoordinator) {
  Report a = FirstReport("job", "node-a", 2);
  Report b = FirstReport("job", "node-b", 2);
  a.spec.encryption = b.spec.encryption = Encryption::kWorkers;
  a.place_key = "key of a";
  b.place_key = "key of b";
  Directive before;
  {
    Coordinator coordinator(Options());
    Attached first(&coordinator, a, "10.0.0.1");
    Attached second(&coordinator, b, "10.0.0.2");
    before = second.WaitFor(DirectiveKind::kRun);
    first.WaitFor(DirectiveKind::kRun);
  }
  Coordinator coordinator(Options());
  ASSERT_THAT(coordinator.ListJobs(), SizeIs(1));
  b.phase = NodePhase::kRunning;
  b.round = 1;
  b.sequence = 7;
  Attached second(&coordinator, b, "10.0.0.2");
  const Directive after = second.WaitFor(DirectiveKind::kRun);
  EXPECT_NE(after.epoch, before.epoch);
  EXPECT_EQ(after.place.round, before.place.round);
  EXPECT_EQ(after.place.group_rank, before.place.group_rank);
  EXPECT_EQ(after.place.channel_key, before.place.channel_key);
  EXPECT_EQ(after.place.run_tag, before.place.run_tag);
}

TEST_F(CoordinatorJournalTest, ANodeInTheProcessOfTheCoordinatorIsLostWithIt) {
  Report b = FirstReport("job", "node-b", 2);
  {
    Coordinator coordinator(Options());
    Attached first(&coordinator, FirstReport("job", "node-a", 2));
    Attached second(&coordinator, b, "10.0.0.2");
    second.WaitFor(DirectiveKind::kRun);
  }
  Coordinator coordinator(Options());
  b.phase = NodePhase::kRunning;
  b.round = 1;
  b.sequence = 7;
  Attached second(&coordinator, b, "10.0.0.2");
  EXPECT_THAT(second.WaitFor(DirectiveKind::kStop).reason,
              HasSubstr("it hosted the coordinator"));
}

TEST_F(CoordinatorJournalTest, AnAnswerToAnOperatorIsDurable) {
  {
    Coordinator coordinator(Options());
    Attached a(&coordinator, FirstReport("job", "node-a", 1));
    a.WaitFor(DirectiveKind::kRun);
    EXPECT_TRUE(coordinator.CancelJob("job", "by ada").ok());
  }
  Coordinator coordinator(Options());
  EXPECT_THAT(coordinator.GetJob("job")->reason, HasSubstr("by ada"));
}

TEST_F(CoordinatorJournalTest, JobsOfAPrincipalStillCount) {
  {
    Coordinator coordinator(Options());
    Attached a(&coordinator, FirstReport("one", "node-a", 1), "", "ada");
    a.WaitFor(DirectiveKind::kRun);
  }
  Coordinator::Options options = Options();
  options.max_jobs_per_principal = 1;
  Coordinator coordinator(std::move(options));
  Attached b(&coordinator, FirstReport("two", "node-b", 1), "", "ada");
  EXPECT_THAT(b.WaitFor(DirectiveKind::kRefused).reason,
              HasSubstr("ada has 1 unfinished jobs"));
}

TEST_F(CoordinatorJournalTest, AForgottenJobHasNoRecord) {
  {
    Coordinator::Options options = Options();
    options.max_finished_jobs = 0;
    Coordinator coordinator(std::move(options));
    Attached a(&coordinator, FirstReport("job", "node-a", 1));
    a.WaitFor(DirectiveKind::kRun);
    a.report().round = 1;
    a.report().phase = NodePhase::kSucceeded;
    EXPECT_TRUE(a.Send().ok());
    a.WaitFor(DirectiveKind::kFinished);
    AwaitAlarms(&coordinator);
    EXPECT_TRUE(absl::IsNotFound(coordinator.GetJob("job").status()));
  }
  for (const KeptJob& kept : Options().kept) EXPECT_NE(kept.job.run_id, "job");
}

TEST_F(CoordinatorJournalTest, AVerdictIsForgottenInItsTime) {
  {
    Coordinator coordinator(Options());
    Attached a(&coordinator, FirstReport("job", "node-a", 1));
    a.WaitFor(DirectiveKind::kRun);
    a.report().round = 1;
    a.report().phase = NodePhase::kSucceeded;
    EXPECT_TRUE(a.Send().ok());
    a.WaitFor(DirectiveKind::kFinished);
  }
  Coordinator::Options options = Options();
  ASSERT_THAT(options.kept, SizeIs(1));
  options.keep_finished = milliseconds(1);
  Coordinator coordinator(std::move(options));
  AwaitAlarms(&coordinator);
  EXPECT_TRUE(absl::IsNotFound(coordinator.GetJob("job").status()));
}

TEST_F(CoordinatorJournalTest, ADamagedRecordNamesItsJob) {
  {
    auto journal = Journal::Open(folder_, 1);
    ASSERT_TRUE(journal.ok()) << journal.status();
    (*journal)->Put("train", "\xff", nullptr);
  }
  EXPECT_THAT(std::string(OpenJournal(folder_).status().message()),
              HasSubstr("record of job \"train\" cannot be used"));
}

TEST_F(CoordinatorJournalTest, AFinishedJobCanBeForgottenAtOnce) {
  {
    Coordinator coordinator(Options());
    Attached done(&coordinator, FirstReport("done", "node-a", 1));
    done.WaitFor(DirectiveKind::kRun);
    done.report().round = 1;
    done.report().phase = NodePhase::kSucceeded;
    EXPECT_TRUE(done.Send().ok());
    done.WaitFor(DirectiveKind::kFinished);
    Attached running(&coordinator, FirstReport("running", "node-a", 1));
    running.WaitFor(DirectiveKind::kRun);
    while (coordinator.ListJobs().size() > 1) coordinator.ForgetFinishedJobs();
  }
  const std::vector<KeptJob> kept = Options().kept;
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].job.run_id, "running");
}

// A new journal folder may replace a lost one, whose epochs nodes still know.
// So the first epoch of a new folder comes from the clock: at least the number
// of milliseconds since 1970.
TEST_F(CoordinatorJournalTest, TheEpochsOfANewFolderAreAboveOlderOnes) {
  const auto now_ms = static_cast<uint64_t>(UnixSeconds() * 1000);
  EXPECT_GE(Options().journal->epoch(), now_ms);
}

// Returns `options`, changed for a coordinator in the process of node-a that
// begins a job which other nodes may take over.
Coordinator::Options FounderOptions(Coordinator::Options options) {
  options.only_run_id = "job";
  options.takeover = Coordinator::Options::Takeover{
      .kind = Standby::Kind::kFounder, .own_endpoint = "node-a:1"};
  return options;
}

TEST_F(CoordinatorJournalTest, AJobThatNoNodeKnowsIsRecalled) {
  for (int round = 1; round <= 2; ++round) {
    Coordinator coordinator(FounderOptions(Options()));
    Attached a(&coordinator, FirstReport("job", "node-a", 1));
    EXPECT_EQ(a.WaitFor(DirectiveKind::kRun).place.round, round);
  }
}

// Runs job "job" of one node in a coordinator with these options until the job
// is preempted. Returns the number of its round.
int RunUntilPreempted(Coordinator::Options options) {
  Coordinator coordinator(std::move(options));
  Attached a(&coordinator, FirstReport("job", "node-a", 1));
  const int round = a.WaitFor(DirectiveKind::kRun).place.round;
  a.report().phase = NodePhase::kRunning;
  a.report().round = round;
  a.report().preemption = {{SIGTERM, "node-a", Duration::zero()}};
  EXPECT_TRUE(a.Send().ok());
  a.WaitFor(DirectiveKind::kStop);
  a.report().phase = NodePhase::kIdle;
  EXPECT_TRUE(a.Send().ok());
  EXPECT_EQ(a.WaitFor(DirectiveKind::kFinished).verdict.outcome,
            Outcome::kPreempted);
  while (!coordinator.ListJobs().empty()) coordinator.ForgetFinishedJobs();
  return round;
}

TEST_F(CoordinatorJournalTest, APreemptedJobGoesOnWhenItRunsAgain) {
  for (int round = 1; round <= 2; ++round) {
    Coordinator::Options options = Options();
    options.only_run_id = "job";
    EXPECT_EQ(RunUntilPreempted(std::move(options)), round);
  }
  EXPECT_EQ(RunUntilPreempted(FounderOptions(Options())), 3);
  // A daemon keeps no record of a job that has ended.
  RunUntilPreempted(Options());
  EXPECT_THAT(Options().kept, SizeIs(0));
}

TEST_F(CoordinatorJournalTest, ARoundThatANodeKnowsIsNotRecalled) {
  for (int round = 1; round <= 3; ++round) {
    Coordinator coordinator(FounderOptions(Options()));
    Attached a(&coordinator, FirstReport("job", "node-a", 1));
    EXPECT_EQ(a.WaitFor(DirectiveKind::kRun).place.round, round);
  }
  Coordinator coordinator(FounderOptions(Options()));
  Report report = FirstReport("job", "node-a", 1);
  report.round = 1;
  report.place = Place{.round = 1, .epoch = 2, .run_tag = "their-tag"};
  report.promised_epoch = 2;
  Attached a(&coordinator, report);
  a.report().promised_epoch = a.WaitFor(DirectiveKind::kStandBy).epoch;
  EXPECT_TRUE(a.Send().ok());
  EXPECT_EQ(a.WaitFor(DirectiveKind::kRun).place.round, 2);
}

// A directive of another coordinator: the job has ended. The directive has the
// highest possible epoch.
Directive Ended() {
  return {.epoch = ~uint64_t{0}, .kind = DirectiveKind::kFinished};
}

TEST_F(CoordinatorJournalTest, AJobThatEndedElsewhereHasNoRecord) {
  {
    Coordinator coordinator(FounderOptions(Options()));
    Attached a(&coordinator, FirstReport("job", "node-a", 1));
    a.WaitFor(DirectiveKind::kRun);
    // This process coordinates the job itself. So Learn ignores the directive,
    // and the job's record stays in the journal.
    coordinator.Learn(Ended());
  }
  {
    Coordinator::Options options = FounderOptions(Options());
    EXPECT_THAT(options.kept, SizeIs(1));
    Coordinator coordinator(std::move(options));
    coordinator.Learn(Ended());
  }
  EXPECT_THAT(Options().kept, SizeIs(0));
}

TEST_F(CoordinatorJournalTest, ARecordLearnsWhatAnotherCoordinatorDoes) {
  {
    Coordinator coordinator(FounderOptions(Options()));
    Report report = FirstReport("job", "node-a", 1);
    report.spec.max_restarts = 3;
    Attached a(&coordinator, report);
    a.WaitFor(DirectiveKind::kRun);
  }
  {
    Coordinator coordinator(FounderOptions(Options()));
    Directive run = {.epoch = 9, .kind = DirectiveKind::kRun};
    run.place = {.round = 7};
    run.restarts_used = 2;
    coordinator.Learn(run);
    run.epoch = 8;  // epoch of an older coordinator
    run.place.round = 8;
    coordinator.Learn(run);
    // If a job ends by a time-out, its record stays in the journal, so that the
    // user can continue the job by running the same `launch` command again.
    Directive ended = Ended();
    ended.verdict.outcome = Outcome::kTimedOut;
    coordinator.Learn(ended);
  }
  const std::vector<KeptJob> kept = Options().kept;
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].job.claimed_round, 7);
  EXPECT_EQ(kept[0].job.restarts_used, 2);
}

// Returns the report of a node that has lost its coordinator, which had the
// epoch `epoch`. The node has group rank `rank` of 3 in round 1.
Report SurvivorReport(const std::string& host, int rank, uint64_t epoch) {
  Report report = FirstReport("job", host, 3);
  report.phase = NodePhase::kRunning;
  report.round = 1;
  report.place = Place{.round = 1,
                       .epoch = epoch,
                       .group_rank = rank,
                       .group_world_size = 3,
                       .first_rank = rank,
                       .world_size = 3,
                       .role_first_rank = rank,
                       .role_world_size = 3,
                       .master_address = "127.0.0.1",
                       .master_port = 29500,
                       .run_tag = "their-tag"};
  report.promised_epoch = epoch;
  report.standby_endpoint = host + ":1";
  report.electorate = {.epoch = epoch,
                       .world = {.epoch = epoch, .round = 1},
                       .nodes = 3,
                       .rank = rank};
  report.spec.keep_alive_interval = milliseconds(100);
  return report;
}

// A test of a coordinator that runs in node-b's process and can take over the
// job.
class TakeoverTest : public ::testing::Test {
 protected:
  using Takeover = Coordinator::Options::Takeover;
  static constexpr uint64_t kOldEpoch = 1000;

  explicit TakeoverTest(Standby::Kind kind = Standby::Kind::kSuccessor)
      : coordinator_(
            {.only_run_id = "job",
             .run_tag = "own-tag",
             .takeover = Takeover{.kind = kind,
                                  .own_endpoint = "",
                                  .on_start = [this](Takeover::Start start,
                                                     const std::string& tag) {
                                    starts_.emplace_back(start, tag);
                                  }}}) {
    coordinator_.SetOwnEndpoint("node-b:1");
  }

  std::unique_ptr<Attached> Survivor(const std::string& host, int rank) {
    return std::make_unique<Attached>(
        &coordinator_, SurvivorReport(host, rank, kOldEpoch), "127.0.0.1");
  }
  // Makes two of three nodes connect and promise the coordinator's epoch (their
  // votes), so that it is elected.
  void TakeOver() {
    b_ = Survivor("node-b", 1);
    c_ = Survivor("node-c", 2);
    for (Attached* node : {b_.get(), c_.get()}) {
      node->report().promised_epoch =
          node->WaitFor(DirectiveKind::kStandBy).epoch;
      EXPECT_EQ(node->Send(), absl::OkStatus());
    }
    ASSERT_TRUE(coordinator_.GetJob("job").ok());
  }

  std::vector<std::pair<Takeover::Start, std::string>> starts_;
  Coordinator coordinator_;
  std::unique_ptr<Attached> b_, c_;
};

class FounderTest : public TakeoverTest {
 protected:
  FounderTest() : TakeoverTest(Standby::Kind::kFounder) {}
};

TEST_F(FounderTest, BeginsTheJobWithItsFirstNode) {
  Attached a(&coordinator_, FirstReport("job", "node-a", 3));
  const Directive wait = a.WaitFor(DirectiveKind::kWait);
  EXPECT_EQ(coordinator_.ListJobs().size(), 1u);
  ASSERT_THAT(starts_, SizeIs(1));
  EXPECT_EQ(starts_[0].first, Takeover::Start::kNewJob);
  EXPECT_EQ(starts_[0].second, "own-tag");
  EXPECT_FALSE(coordinator_.WhereElse().has_value());
  // This coordinator has begun the job. But perhaps its process was restarted,
  // and another process coordinates the job now. So it announces that it has no
  // majority (kMinority). A coordinator with a majority answers such an
  // announcement.
  EXPECT_EQ(coordinator_.Announcing()->backing, Backing::kMinority);
  EXPECT_TRUE(IsFounding(wait.epoch));
}

TEST_F(FounderTest, MayLeaveWhileTheJobAwaitsNodes) {
  Attached a(&coordinator_, FirstReport("job", "node-a", 2));
  a.WaitFor(DirectiveKind::kWait);
  EXPECT_TRUE(coordinator_.MayLeave());
  Attached b(&coordinator_, FirstReport("job", "node-b", 2));
  a.WaitFor(DirectiveKind::kRun);
  EXPECT_FALSE(coordinator_.MayLeave());
}

TEST_F(FounderTest, ANewJobGivesWayToASuccessorThatAnnouncesItself) {
  Attached a(&coordinator_, FirstReport("job", "node-a", 3));
  a.WaitFor(DirectiveKind::kWait);
  EXPECT_EQ(coordinator_.Told("job", kDrawnEpochMask + 1, "node-c:1"),
            absl::OkStatus());
  // This coordinator sends node a to the announced coordinator at once. It does
  // not wait for another report of the node.
  const Directive moved = a.WaitFor(DirectiveKind::kMoved);
  ASSERT_THAT(moved.standbys, SizeIs(1));
  EXPECT_EQ(moved.standbys[0], "node-c:1");
}

TEST_F(FounderTest, ANewJobGivesWayToNodesThatHaveMetASuccessor) {
  Attached a(&coordinator_, FirstReport("job", "node-a", 3));
  a.WaitFor(DirectiveKind::kWait);
  EXPECT_TRUE(absl::IsInvalidArgument(coordinator_.Meet(
      "job", {.endpoint = "node-c:1", .nodes = 2, .promised = ~uint64_t{0}})));
  EXPECT_EQ(coordinator_.Meet("job", {.endpoint = "node-c:1",
                                      .nodes = 2,
                                      .promised = kDrawnEpochMask + 1}),
            absl::OkStatus());
  // This coordinator has become a standby. It sends its only node to the
  // standby of node-c, to which more nodes are connected.
  const Directive moved = a.WaitFor(DirectiveKind::kMoved);
  EXPECT_EQ(moved.standbys, std::vector<std::string>{"node-c:1"});
}

// A coordinator with an old epoch announces itself at the same time as the
// job's new coordinator, node c. Node a must be sent to node c.
TEST(TakeoverRaceTest, NodesGoToTheSuccessorWhateverElseIsAnnounced) {
  for (int i = 0; i < 50; ++i) {
    Coordinator coordinator(
        {.only_run_id = "job",
         .takeover = Coordinator::Options::Takeover{
             .kind = Standby::Kind::kFounder, .own_endpoint = "node-b:1"}});
    Attached a(&coordinator, FirstReport("job", "node-a", 3));
    a.WaitFor(DirectiveKind::kWait);
    std::atomic<bool> ended = false;
    std::promise<void> begun;
    std::thread old([&] {
      for (bool is_first = true; !ended; is_first = false) {
        EXPECT_EQ(coordinator.Told("job", 1, "node-x:1"), absl::OkStatus());
        if (is_first) begun.set_value();
      }
    });
    begun.get_future().wait();
    EXPECT_EQ(coordinator.Told("job", kDrawnEpochMask + 1, "node-c:1"),
              absl::OkStatus());
    const Directive moved = a.WaitFor(DirectiveKind::kMoved);
    ended = true;
    old.join();
    EXPECT_EQ(moved.standbys, std::vector<std::string>{"node-c:1"});
  }
}

// This coordinator was cut off from nodes that have moved to a new coordinator,
// but their old streams are still open here. The last reports on these streams
// must not count as votes for this coordinator.
TEST_F(FounderTest, ARunningJobGivesWayWithoutAnElection) {
  std::vector<std::unique_ptr<Attached>> nodes;
  for (const char* host : {"node-a", "node-b", "node-c"}) {
    nodes.push_back(
        std::make_unique<Attached>(&coordinator_, FirstReport("job", host, 3)));
  }
  for (const auto& node : nodes) {
    const Directive run = node->WaitFor(DirectiveKind::kRun);
    const std::string host = node->report().node.host;
    const uint64_t sequence = node->report().sequence;
    const NodeIdentity identity = node->report().node;
    node->report() = SurvivorReport(host, run.place.group_rank, run.epoch);
    node->report().node = identity;
    node->report().sequence = sequence;
    EXPECT_EQ(node->Send(), absl::OkStatus());
  }
  EXPECT_EQ(coordinator_.Told("job", kDrawnEpochMask + 1, "node-c:1"),
            absl::OkStatus());
  for (const auto& node : nodes) {
    const Directive moved = node->WaitFor(DirectiveKind::kMoved);
    EXPECT_EQ(moved.standbys, std::vector<std::string>{"node-c:1"});
  }
  EXPECT_EQ(coordinator_.WhereElse()->endpoint, "node-c:1");
}

TEST_F(TakeoverTest, TakesOverOnceAMajorityHasPromised) {
  b_ = Survivor("node-b", 1);
  EXPECT_EQ(b_->WaitFor(DirectiveKind::kStandBy).epoch, 0u);
  EXPECT_TRUE(coordinator_.HasJob(b_->stream()));
  EXPECT_TRUE(absl::IsUnavailable(coordinator_.GetJob("job").status()));
  EXPECT_TRUE(coordinator_.MayLeave()) << "it does not coordinate the job";
  EXPECT_EQ(coordinator_.Announcing()->gathered, 1);
  EXPECT_EQ(coordinator_.Announcing()->epoch, kOldEpoch) << "it was promised";
  EXPECT_THAT(starts_, SizeIs(0));
  TakeOver();
  // The running round continues under this coordinator.
  EXPECT_EQ(coordinator_.GetJob("job")->phase, JobPhase::kRunning);
  EXPECT_EQ(coordinator_.GetJob("job")->round, 1);
  ASSERT_THAT(starts_, SizeIs(1));
  EXPECT_EQ(starts_[0].first, Takeover::Start::kTakeover);
  EXPECT_EQ(starts_[0].second, "their-tag");
  const auto announcement = coordinator_.Announcing();
  ASSERT_TRUE(announcement.has_value());
  EXPECT_EQ(announcement->run_id, "job");
  EXPECT_EQ(announcement->endpoint, "node-b:1");
  EXPECT_GT(announcement->epoch, kOldEpoch);
  EXPECT_EQ(announcement->standbys, std::vector<std::string>{"node-c:1"});
  const auto known = coordinator_.Known("job");
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(known->endpoint, "node-b:1");
  EXPECT_EQ(known->epoch, announcement->epoch);
  EXPECT_FALSE(coordinator_.Known("other").has_value());
  EXPECT_TRUE(coordinator_.MayLeave()) << "the others can elect another one";
}

TEST_F(TakeoverTest, KnowsTheDrainsAndMachinesThatWereHandedOver) {
  NodeMemory memory;
  ASSERT_TRUE(memory.Ban(hours(1), "n7", "broken fan").ok());
  Directive directive;
  directive.epoch = directive.electorate.epoch = kOldEpoch;
  directive.handover = Handover{.machines = ToBytes(memory.Keep())};
  const NodeIdentity node = SurvivorReport("node-c", 2, kOldEpoch).node;
  directive.handover->Release(
      {.node_id = node.node_id, .incarnation = node.incarnation});
  coordinator_.Learn(directive);
  TakeOver();
  EXPECT_THAT(coordinator_.GetJob("job")->reason,
              HasSubstr("drained before this coordinator took over"));
  const std::vector<HostStatus> hosts = coordinator_.ListHosts();
  ASSERT_THAT(hosts, SizeIs(1));
  EXPECT_EQ(hosts[0].judgement.reason, "broken fan");
}

TEST_F(TakeoverTest, AsksForAnotherCoordinatorOnceItLacksAMajority) {
  TakeOver();
  c_.reset();
  const Instant deadline = MonotonicNow() + kMaxWait;
  while (coordinator_.Announcing()->backing == Backing::kMajority &&
         MonotonicNow() < deadline) {
    EXPECT_EQ(b_->Send(), absl::OkStatus());
    b_->WaitFor(DirectiveKind::kStop);
  }
  EXPECT_EQ(coordinator_.Announcing()->backing, Backing::kMinority);
  EXPECT_FALSE(coordinator_.Known("job").has_value());
}

TEST_F(TakeoverTest, ANodeThatHasGoneDoesNotCount) {
  b_ = Survivor("node-b", 1);
  b_->WaitFor(DirectiveKind::kStandBy);
  b_.reset();
  c_ = Survivor("node-c", 2);
  EXPECT_EQ(c_->WaitFor(DirectiveKind::kStandBy).epoch, 0u);
}

TEST_F(TakeoverTest, SendsNodesToTheCoordinatorOfItsOwnAgent) {
  coordinator_.Follow(Standby::Leader{"node-a:1", kOldEpoch});
  c_ = Survivor("node-c", 2);
  const Directive moved = c_->WaitFor(DirectiveKind::kMoved);
  EXPECT_EQ(moved.standbys, std::vector<std::string>{"node-a:1"});
  const auto elsewhere = coordinator_.WhereElse();
  ASSERT_TRUE(elsewhere.has_value());
  EXPECT_EQ(elsewhere->endpoint, "node-a:1");
  const absl::Status asked = coordinator_.CancelJob("job", "ada");
  EXPECT_TRUE(absl::IsFailedPrecondition(asked));
  EXPECT_EQ(asked.message(), "job \"job\" is coordinated at node-a:1");
  // The agent in this coordinator's process is connected to this coordinator
  // (node-b:1), which is only a standby. So no coordinator of the job is known.
  coordinator_.Follow(Standby::Leader{"node-b:1", kOldEpoch});
  EXPECT_TRUE(absl::IsUnavailable(coordinator_.WhereElse()->why));
  coordinator_.Follow(std::nullopt);
  EXPECT_TRUE(absl::IsUnavailable(coordinator_.WhereElse()->why));
}

TEST_F(TakeoverTest, TheAgentsLossOutweighsAnAnnouncement) {
  coordinator_.Follow(Standby::Leader{"node-a:1", kOldEpoch});
  EXPECT_EQ(coordinator_.Told("job", kOldEpoch, "node-a:1"), absl::OkStatus());
  coordinator_.Follow(std::nullopt);
  EXPECT_TRUE(absl::IsUnavailable(coordinator_.WhereElse()->why));
}

TEST_F(TakeoverTest, AnAnnouncementOfAnotherJobIsRefused) {
  EXPECT_TRUE(absl::IsNotFound(coordinator_.Told("other", 5, "node-a:1")));
  EXPECT_EQ(coordinator_.WhereElse()->endpoint, "");
  Coordinator daemon({});
  EXPECT_TRUE(absl::IsNotFound(daemon.Told("job", 5, "node-a:1")));
}

TEST_F(TakeoverTest, ANodeOfAnotherJobIsRefused) {
  Attached other(&coordinator_, FirstReport("other", "node-x", 3));
  EXPECT_TRUE(other.WaitFor(DirectiveKind::kRefused).another_job);
  EXPECT_FALSE(coordinator_.HasJob(other.stream()));
}

TEST_F(TakeoverTest, StandsByAgainOnceItIsDeposed) {
  TakeOver();
  std::vector<std::string> kinds;
  std::optional<absl::StatusCode> at_end;
  DecisionCursor cursor;
  const auto watch =
      coordinator_.Watch("job", &cursor, [&](const Decision& decision) {
        kinds.push_back(decision.kind);
        at_end = coordinator_.GetJobSummary("job").status().code();
      });
  ASSERT_TRUE(watch.ok());
  const uint64_t epoch = coordinator_.Announcing()->epoch;
  c_->report().promised_epoch = epoch + 1;
  EXPECT_EQ(c_->Send(), absl::OkStatus());
  EXPECT_EQ(kinds, std::vector<std::string>{"deposed"});
  EXPECT_EQ(at_end, absl::StatusCode::kUnavailable);
  coordinator_.Unwatch(watch->id);
  EXPECT_FALSE(coordinator_.Announcing().has_value());
  // The deposed coordinator is a standby now and keeps its streams. It asks the
  // nodes to promise an epoch that is higher than the one that node c has
  // promised.
  for (Attached* node : {b_.get(), c_.get()}) {
    const Directive asked = node->WaitFor(DirectiveKind::kStandBy);
    EXPECT_GT(asked.epoch, epoch + 1);
    node->report().promised_epoch = asked.epoch;
    EXPECT_EQ(node->Send(), absl::OkStatus());
  }
  EXPECT_TRUE(coordinator_.GetJob("job").ok());
  EXPECT_THAT(starts_, SizeIs(2));
}

TEST_F(TakeoverTest, AnIdleStandbyIsDeserted) {
  EXPECT_TRUE(coordinator_.WaitUntilDeserted(Duration::zero()));
}

TEST(DirectiveOrderTest, AStandbysDirectivesPrecedeThoseOfItsJob) {
  const auto directive = [](DirectiveKind kind, uint64_t epoch,
                            uint64_t revision) {
    Directive made;
    made.kind = kind;
    made.epoch = epoch;
    made.revision = revision;
    return made;
  };
  DirectiveOrder order;
  EXPECT_TRUE(order.Admit(directive(DirectiveKind::kStandBy, 0, 4)));
  EXPECT_TRUE(order.Admit(directive(DirectiveKind::kStandBy, 9, 5)));
  EXPECT_TRUE(order.Admit(directive(DirectiveKind::kHold, 9, 2)));
  EXPECT_FALSE(order.Admit(directive(DirectiveKind::kHold, 9, 1)));
  EXPECT_TRUE(order.Admit(directive(DirectiveKind::kRun, 9, 3)));
  EXPECT_TRUE(order.Admit(directive(DirectiveKind::kStandBy, 0, 1)));
}

std::shared_ptr<InquirySession> SessionFor(Inquiry question) {
  return std::make_shared<InquirySession>(std::move(question), [] {});
}

TEST(CoordinatorInquiryTest, OpenInquiryIsInTheDirectivesOfTheNodesItConcerns) {
  Coordinator coordinator({});
  Attached a(&coordinator, FirstReport("job", "node-a", 2));
  Attached b(&coordinator, FirstReport("job", "node-b", 2));
  const uint64_t revision = a.WaitFor(DirectiveKind::kRun).revision;
  const auto all = SessionFor({.lines = 7});
  ASSERT_EQ(coordinator.Inquire("job", "", all), absl::OkStatus());
  const auto one =
      SessionFor({.ranks = {b.WaitFor(DirectiveKind::kRun).place.first_rank}});
  ASSERT_EQ(coordinator.Inquire("job", "", one), absl::OkStatus());
  ASSERT_THAT(a.inquiries(), SizeIs(1));
  EXPECT_THAT(b.inquiries(), SizeIs(2));
  EXPECT_EQ(a.inquiries()[0].lines, 7);
  EXPECT_EQ(a.WaitFor(DirectiveKind::kRun).revision, revision)
      << "an inquiry does not change what the node should do";
  coordinator.EndInquiry("job", all);
  EXPECT_THAT(a.inquiries(), SizeIs(0));
  EXPECT_THAT(b.inquiries(), SizeIs(1));
  coordinator.EndInquiry("job", one);
  EXPECT_THAT(b.inquiries(), SizeIs(0));
}

TEST(CoordinatorInquiryTest, LaterDirectivesKeepTheInquiry) {
  Coordinator coordinator({});
  Attached a(&coordinator, FirstReport("job", "node-a", 1));
  a.WaitFor(DirectiveKind::kRun);
  const auto session = SessionFor({.follow = Inquiry::Follow::kYes});
  ASSERT_EQ(coordinator.Inquire("job", "", session), absl::OkStatus());
  EXPECT_EQ(coordinator.CancelJob("job", "test"), absl::OkStatus());
  EXPECT_THAT(a.WaitFor(DirectiveKind::kStop).inquiries, SizeIs(1));
  coordinator.EndInquiry("job", session);
}

TEST(CoordinatorInquiryTest, NodeThatDisconnectsIsNamed) {
  Coordinator coordinator({});
  Attached a(&coordinator, FirstReport("job", "node-a", 2));
  auto b =
      std::make_unique<Attached>(&coordinator, FirstReport("job", "node-b", 2));
  b->WaitFor(DirectiveKind::kRun);
  const auto session = SessionFor({});
  ASSERT_EQ(coordinator.Inquire("job", "node-b", session), absl::OkStatus());
  const uint64_t id = b->inquiries().front().id;
  EXPECT_TRUE(coordinator.FindInquiry("job", id).ok());
  b.reset();
  const std::optional<InquiryUpdate> update = session->Next();
  ASSERT_TRUE(update.has_value());
  EXPECT_EQ(update->node_id, "node-b");
  EXPECT_THAT(update->missing, HasSubstr("connection"));
  EXPECT_TRUE(session->IsOver());
  EXPECT_FALSE(coordinator.FindInquiry("job", id).ok());
  coordinator.EndInquiry("job", session);
}

TEST(CoordinatorInquiryTest, JobWithoutWorkersOrAtItsEndRefuses) {
  Coordinator coordinator({});
  EXPECT_TRUE(absl::IsNotFound(coordinator.Inquire("job", "", SessionFor({}))));
  Attached a(&coordinator, FirstReport("job", "node-a", 2));
  EXPECT_TRUE(absl::IsFailedPrecondition(
      coordinator.Inquire("job", "", SessionFor({}))));
  const absl::Status stacks = coordinator.Inquire(
      "job", "", SessionFor({.kind = Inquiry::Kind::kStacks}));
  EXPECT_THAT(std::string(stacks.message()), HasSubstr("no worker runs"));
  EXPECT_EQ(coordinator.CancelJob("job", "test"), absl::OkStatus());
  a.WaitFor(DirectiveKind::kFinished);
  EXPECT_THAT(
      std::string(coordinator.Inquire("job", "", SessionFor({})).message()),
      HasSubstr("the job is over"));
}

TEST(CoordinatorInquiryTest, FollowerAsksANodeThatJoinsLater) {
  Coordinator coordinator({});
  Attached a(&coordinator, FirstReport("job", "node-a", 2));
  const auto session = SessionFor({.follow = Inquiry::Follow::kYes});
  ASSERT_EQ(coordinator.Inquire("job", "", session), absl::OkStatus());
  Attached b(&coordinator, FirstReport("job", "node-b", 2));
  b.WaitFor(DirectiveKind::kRun);
  EXPECT_THAT(a.inquiries(), SizeIs(1));
  EXPECT_THAT(b.inquiries(), SizeIs(1));
  EXPECT_FALSE(session->IsOver());
  coordinator.EndInquiry("job", session);
}

TEST(CoordinatorInquiryTest, ThousandInquiriesAreBounded) {
  Coordinator coordinator({});
  Attached a(&coordinator, FirstReport("job", "node-a", 1));
  a.WaitFor(DirectiveKind::kRun);
  std::vector<std::shared_ptr<InquirySession>> sessions;
  for (int i = 0; i < 1000; ++i) {
    sessions.push_back(SessionFor({}));
    EXPECT_EQ(coordinator.Inquire("job", "", sessions.back()).ok(),
              i < static_cast<int>(kMaxInquiries));
  }
  EXPECT_THAT(a.inquiries(), SizeIs(kMaxInquiries));
  for (const auto& session : sessions) coordinator.EndInquiry("job", session);
  EXPECT_THAT(a.inquiries(), SizeIs(0));
  EXPECT_EQ(coordinator.Inquire("job", "", sessions.front()), absl::OkStatus());
  coordinator.EndInquiry("job", sessions.front());
}

}  // namespace
}  // namespace muster::rendezvous
