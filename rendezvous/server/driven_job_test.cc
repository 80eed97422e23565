#include "rendezvous/server/driven_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/channel_key.h"
#include "base/time.h"
#include "rendezvous/journal/record_store.h"
#include "rendezvous/protocol/inquiry.h"
#include "rendezvous/server/alarm_thread.h"
#include "rendezvous/server/directive_sink.h"
#include "rendezvous/server/inquiry_session.h"
#include "rendezvous/testing/scripted_node.h"

namespace muster::rendezvous {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr seconds kMaxWait(30);

// Adds an observer that has seen no decision yet. Returns whether it was added.
bool AddTo(JobWatchers& watchers, uint64_t id, JobWatchers::Told told) {
  DecisionCursor cursor;
  return watchers.Add(id, &cursor, std::move(told)).has_value();
}

Decision Numbered(int number) { return {.kind = "join", .round = number}; }

TEST(JobWatchersTest, AllWatchersAreCalledInOrder) {
  std::vector<std::string> told;
  JobWatchers watchers([&](const Decision& d) {
    told.push_back("always " + std::to_string(d.round));
  });
  ASSERT_TRUE(AddTo(watchers, 1, [&](const Decision& d) {
    told.push_back("one " + std::to_string(d.round));
  }));
  watchers.Note({Numbered(1)});
  watchers.Note({Numbered(2)});
  watchers.Tell();
  EXPECT_THAT(told, ElementsAre("always 1", "one 1", "always 2", "one 2"));
}

TEST(JobWatchersTest, ARemovedWatcherIsNotCalled) {
  int told = 0;
  JobWatchers watchers(nullptr);
  ASSERT_TRUE(AddTo(watchers, 1, [&](const Decision&) { ++told; }));
  watchers.Note({Numbered(1)});
  watchers.Remove(1);
  watchers.Tell();
  EXPECT_EQ(told, 0);
}

// Returns the numbers of the decisions that a new observer of `watchers` has
// missed since `cursor`.
std::vector<int> Missed(JobWatchers& watchers, DecisionCursor cursor) {
  const auto missed = watchers.Add(1, &cursor, [](const Decision&) {});
  watchers.Remove(1);
  std::vector<int> numbers;
  for (const Decision& one : missed->decisions) numbers.push_back(one.round);
  EXPECT_EQ(cursor.epoch, 7u);
  return numbers;
}

TEST(JobWatchersTest, AnObserverGetsWhatItHasMissed) {
  JobWatchers watchers(nullptr, 7);
  watchers.Note({Numbered(1), Numbered(2), Numbered(3)});
  watchers.Tell();
  // Decision 4 is queued, but Tell has not passed it on yet. A new observer has
  // not missed this decision: the next Tell passes it to the observer.
  watchers.Note({Numbered(4)});
  EXPECT_THAT(Missed(watchers, {}), IsEmpty());
  EXPECT_THAT(Missed(watchers, {.epoch = 7, .count = 1}), ElementsAre(2, 3));
  EXPECT_THAT(Missed(watchers, {.epoch = 7, .count = 3}), IsEmpty());
  EXPECT_THAT(Missed(watchers, {.epoch = 7, .count = 99}), IsEmpty());
  EXPECT_THAT(Missed(watchers, {.epoch = 6, .count = 2}), ElementsAre(1, 2, 3));
  DecisionCursor cursor{.epoch = 7, .count = 1};
  std::vector<int> told;
  ASSERT_TRUE(watchers.Add(
      1, &cursor, [&](const Decision& d) { told.push_back(d.round); }));
  EXPECT_EQ(cursor.count, 3u);
  watchers.Tell();
  EXPECT_THAT(told, ElementsAre(4));
}

TEST(JobWatchersTest, DecisionsThatAreNotKeptAreCounted) {
  JobWatchers watchers(nullptr, 7);
  constexpr int kMost = JobWatchers::kMaxKept;
  for (int i = 1; i <= kMost + 5; ++i) watchers.Note({Numbered(i)});
  watchers.Tell();
  DecisionCursor cursor{.epoch = 7, .count = 2};
  const auto missed = watchers.Add(1, &cursor, [](const Decision&) {});
  ASSERT_EQ(missed->decisions.size(), JobWatchers::kMaxKept);
  EXPECT_EQ(missed->decisions.front().round, 6);
  EXPECT_EQ(missed->dropped, 3);
}

TEST(JobWatchersTest, ThereIsABound) {
  JobWatchers watchers(nullptr);
  uint64_t added = 0;
  while (added < 1'000'000 && AddTo(watchers, added, [](const Decision&) {})) {
    ++added;
  }
  EXPECT_LT(added, 1'000'000u);
  watchers.Remove(0);
  EXPECT_TRUE(AddTo(watchers, added, [](const Decision&) {}));
}

TEST(JobWatchersTest, KeepsTheOrderOfDecisionsAcrossThreads) {
  // The vector needs no lock, since calls of one observer do not overlap.
  std::vector<int> told;
  JobWatchers watchers([&](const Decision& d) { told.push_back(d.round); });
  std::mutex job;
  int next = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        {
          std::lock_guard<std::mutex> lock(job);
          watchers.Note({Numbered(next++)});
        }
        watchers.Tell();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(told.size(), 2000u);
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(told[i], i);
}

TEST(JobWatchersTest, RemovedWatcherIsNotCalled) {
  JobWatchers watchers(nullptr);
  std::atomic<bool> stop = false;
  std::thread teller([&] {
    while (!stop) {
      watchers.Note({Numbered(1)});
      watchers.Tell();
    }
  });
  for (uint64_t id = 0; id < 200; ++id) {
    // `told` is on the stack, so that a sanitizer reports a call that comes
    // after the observer was removed.
    int told = 0;
    ASSERT_TRUE(AddTo(watchers, id, [&told](const Decision&) { ++told; }));
    watchers.Remove(id);
  }
  stop = true;
  teller.join();
}

TEST(ChannelKeys, EachRoundHasAnother) {
  ChannelKeys keys;
  const std::string first = keys.KeyOf(1);
  EXPECT_EQ(first.size(), kChannelKeyBytes);
  EXPECT_EQ(keys.KeyOf(1), first);
  EXPECT_NE(keys.KeyOf(2), first);
  EXPECT_EQ(keys.KeyOf(2).size(), kChannelKeyBytes);
}

// A record store in which the test decides when records become durable.
class FakeStore : public RecordStore {
 public:
  void Put(const std::string&, std::string,
           std::function<void()> done) override {
    std::lock_guard<std::mutex> lock(mutex_);
    queued_.push_back(std::move(done));
    changed_.notify_all();
  }
  void Remove(const std::string&) override {}

  // Waits until a record is queued. Fails the test after kMaxWait.
  void AwaitQueued() {
    std::unique_lock<std::mutex> lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kMaxWait, [this] {
      return !queued_.empty();
    })) << "the job queued no record";
  }
  // Whether no record is queued.
  bool is_idle() {
    std::lock_guard<std::mutex> lock(mutex_);
    return queued_.empty();
  }
  // Waits until a record is queued, and makes all queued records durable. Fails
  // the test after kMaxWait.
  void MakeDurable() {
    AwaitQueued();
    std::unique_lock<std::mutex> lock(mutex_);
    const std::vector<std::function<void()>> durable =
        std::exchange(queued_, {});
    lock.unlock();
    for (const std::function<void()>& done : durable) done();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void()>> queued_;  // callbacks passed to Put
};

// Records the kind of each directive, in the order of delivery.
class FakeSink : public DirectiveSink {
 public:
  void Deliver(const Directive& directive) override {
    std::lock_guard<std::mutex> lock(mutex_);
    delivered_.push_back(directive.kind);
  }
  std::vector<DirectiveKind> delivered() {
    std::lock_guard<std::mutex> lock(mutex_);
    return delivered_;
  }

 private:
  std::mutex mutex_;
  std::vector<DirectiveKind> delivered_;
};

// A job of two nodes whose records go to a FakeStore.
class KeptJobTest : public ::testing::Test {
 protected:
  std::shared_ptr<DrivenJob> NewJob(Duration max_write_wait = hours(1)) {
    DrivenJob::Observer observer;
    observer.on_finished = [] {};
    return std::make_shared<DrivenJob>(
        "job", 1, FirstReport("job", "", 2).spec, "tag", JobOwner(),
        DrivenJob::Surroundings{.alarms = &alarms_,
                                .records = &store_,
                                .leads = [this] { return leads_; },
                                .max_write_wait = max_write_wait},
        observer);
  }

  // Attaches an agent on `host` to the job.
  void Join(DrivenJob& job, const std::string& host, FakeSink* sink) {
    Report report = FirstReport("job", host, 2);
    report.sequence = 1;
    job.OnReport(std::make_shared<AttachedSink>(++streams_, sink, ""),
                 std::move(report));
  }

  // Calls `ask`, a request to a job, which must succeed. Another thread makes
  // the job's record durable after the request has queued it. Returns whether
  // `ask` has waited until the record was durable.
  bool WaitsForRecord(const std::function<std::string()>& ask) {
    std::atomic<bool> is_durable = false;
    std::thread disk([&] {
      store_.AwaitQueued();
      is_durable = true;
      store_.MakeDurable();
    });
    EXPECT_EQ(ask(), "");
    const bool has_waited = is_durable;
    disk.join();
    return has_waited;
  }

  // what DrivenJob::Surroundings::leads returns: whether the coordinator of the
  // job is the leader
  bool leads_ = true;
  FakeStore store_;
  FakeSink a_;
  FakeSink b_;
  StreamId streams_ = 0;
  // Declared last, so that the alarms' thread ends before the members that it
  // uses are destroyed.
  AlarmThread alarms_;
};

TEST_F(KeptJobTest, ADirectiveIsNotDeliveredBeforeItsRecordIsDurable) {
  const auto job = NewJob();
  Join(*job, "node-a", &a_);
  EXPECT_THAT(a_.delivered(), IsEmpty());
}

TEST_F(KeptJobTest, EachDirectiveIsDeliveredOnceItsRecordIsDurable) {
  const auto job = NewJob();
  Join(*job, "node-a", &a_);
  Join(*job, "node-b", &b_);
  store_.MakeDurable();
  EXPECT_THAT(a_.delivered(), ElementsAre(DirectiveKind::kWait));
  store_.MakeDurable();
  EXPECT_THAT(a_.delivered(),
              ElementsAre(DirectiveKind::kWait, DirectiveKind::kRun));
  EXPECT_THAT(b_.delivered(), ElementsAre(DirectiveKind::kRun));
}

// A coordinator that is no longer the leader must ignore the death of an agent.
// The job cannot notice the loss of leadership by a failed write to the record
// store, because the death changes no record. So the job must call
// Surroundings::leads.
TEST_F(KeptJobTest, ACoordinatorThatNoLongerLeadsDecidesNothing) {
  const auto job = NewJob(/*max_write_wait=*/Duration::zero());
  Join(*job, "node-a", &a_);
  Join(*job, "node-b", &b_);
  store_.MakeDurable();
  store_.MakeDurable();
  const JobStatus before = job->Status();
  leads_ = false;
  job->OnAgentDied("node-a");
  EXPECT_EQ(job->Status().phase, before.phase);
  EXPECT_EQ(b_.delivered().size(), 1u);
  EXPECT_NE(job->Cancel("by ada"), "");
}

// The leader is suspended while its record is written. When it continues,
// another coordinator leads.
TEST_F(KeptJobTest, ACoordinatorThatNoLongerLeadsSendsNoHeldDirective) {
  const auto job = NewJob();
  Join(*job, "node-a", &a_);
  leads_ = false;
  store_.MakeDurable();
  EXPECT_THAT(a_.delivered(), IsEmpty());
  EXPECT_TRUE(store_.is_idle());
}

// An inquiry repeats the newest directives of the nodes that it asks.
TEST_F(KeptJobTest, ACoordinatorThatNoLongerLeadsAsksNoNode) {
  const auto job = NewJob();
  Join(*job, "node-a", &a_);
  Join(*job, "node-b", &b_);
  store_.MakeDurable();
  store_.MakeDurable();
  const auto session = [](Inquiry question) {
    return std::make_shared<InquirySession>(std::move(question), [] {});
  };
  const auto open = session({.follow = Inquiry::Follow::kYes});
  ASSERT_EQ(job->Inquire(open, ""), absl::OkStatus());
  const size_t told = a_.delivered().size();
  leads_ = false;
  EXPECT_TRUE(absl::IsUnavailable(job->Inquire(session({}), "")));
  job->EndInquiry(open);
  EXPECT_EQ(a_.delivered().size(), told);
}

// After the job is deposed, the nodes obey another coordinator, so directives
// that were held back are dropped.
TEST_F(KeptJobTest, ADeposedJobDeliversAndWritesNothingMore) {
  bool is_deposed = false;
  DrivenJob::Observer observer;
  observer.on_deposed = [&] { is_deposed = true; };
  const auto job = std::make_shared<DrivenJob>(
      "job", 1, FirstReport("job", "", 2).spec, "tag", JobOwner(),
      DrivenJob::Surroundings{.alarms = &alarms_,
                              .records = &store_,
                              .own_endpoint = "node-a:1",
                              .max_write_wait = hours(1)},
      observer);
  Join(*job, "node-a", &a_);
  // FakeStore has not made a record durable yet, so the job holds back its
  // directives.
  Join(*job, "node-b", &b_);
  job->OnCoordinatorTold({.epoch = uint64_t{1} << 40});
  EXPECT_TRUE(is_deposed);
  store_.MakeDurable();
  EXPECT_THAT(a_.delivered(), IsEmpty());
  EXPECT_THAT(b_.delivered(), IsEmpty());
  EXPECT_TRUE(store_.is_idle());
  EXPECT_NE(job->Cancel("by ada"), "");
}

TEST_F(KeptJobTest, AnOperatorsAnswerWaitsForItsRecord) {
  const auto job = NewJob();
  Join(*job, "node-a", &a_);
  store_.MakeDurable();
  EXPECT_TRUE(WaitsForRecord([&] { return job->Drain("node-a", "ada"); }));
  EXPECT_TRUE(WaitsForRecord([&] { return job->Cancel("by ada"); }));
}

TEST_F(KeptJobTest, AnOperatorsAnswerDoesNotWaitForEverForAStore) {
  const auto job = NewJob(/*max_write_wait=*/Duration::zero());
  std::future<std::string> answer =
      std::async(std::launch::async, [&] { return job->Cancel("by ada"); });
  if (answer.wait_for(kMaxWait) != std::future_status::ready) {
    ADD_FAILURE() << "Cancel still waits for the record, although it may wait "
                     "for 0 s";
    store_.MakeDurable();
  }
  EXPECT_EQ(answer.get(), "");
  EXPECT_EQ(DrivenJob::Surroundings().max_write_wait, seconds(10));
}

}  // namespace
}  // namespace muster::rendezvous
