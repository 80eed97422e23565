// Tests that no rank stays blocked when a group over NCCL breaks. Ranks are
// threads that use the fake NCCL, which aborts the process if a thread is
// inside NCCL during an abort.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "absl/strings/match.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/nccl/fake_library.h"
#include "trainer_sdk/process_group/formation.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"
#include "trainer_sdk/store/in_process_store.h"

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

OperationContext Within(Duration timeout, uint64_t sequence = 1) {
  return {.sequence = sequence, .deadline = MonotonicNow() + timeout};
}

std::string Why(const absl::Status& status) {
  return std::string(status.message());
}

// A store for tests. After End, as if the round were over, every call fails;
// after Hang, writes block until GoOn.
class EndingStore final : public Store {
 public:
  void End() { ended_ = true; }
  void Hang() {
    std::lock_guard<std::mutex> lock(mutex_);
    hangs_ = true;
  }
  void GoOn() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      hangs_ = false;
    }
    changed_.notify_all();
  }

  absl::Status Set(const std::string& key, const std::string& value) override {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !hangs_; });
    return ended_ ? Gone() : store_.Set(key, value);
  }
  absl::StatusOr<std::string> Get(const std::string& key,
                                  Instant deadline) override {
    if (ended_) return Gone();
    return store_.Get(key, deadline);
  }
  absl::Status Wait(const std::vector<std::string>& keys,
                    Instant deadline) override {
    return ended_ ? Gone() : store_.Wait(keys, deadline);
  }
  absl::StatusOr<int64_t> Add(const std::string& key, int64_t amount) override {
    if (ended_) return Gone();
    return store_.Add(key, amount);
  }
  absl::StatusOr<std::string> CompareSet(const std::string& key,
                                         const std::string& expected,
                                         const std::string& desired) override {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !hangs_; });
    if (ended_) return Gone();
    return store_.CompareSet(key, expected, desired);
  }
  absl::StatusOr<bool> Delete(const std::string& key) override {
    if (ended_) return Gone();
    return store_.Delete(key);
  }
  absl::StatusOr<bool> Check(const std::vector<std::string>& keys) override {
    if (ended_) return Gone();
    return store_.Check(keys);
  }

 private:
  static absl::Status Gone() {
    return absl::UnavailableError("round 3 is broken");
  }
  InProcessStore store_;
  std::atomic<bool> ended_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Whether Set and CompareSet block: true from a call of Hang to the next call
  // of GoOn. Guarded by mutex_.
  bool hangs_ = false;
};

// Receives the cause that the transport passes to on_broken.
class Breakage {
 public:
  std::function<void(const absl::Status&)> Listener() {
    return [this](const absl::Status& cause) {
      std::lock_guard<std::mutex> lock(mutex_);
      ++times_;
      cause_ = cause;
      changed_.notify_all();
    };
  }
  absl::Status Cause() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_until(lock, ToSteady(MonotonicNow() + seconds(30)),
                        [this] { return times_ > 0; });
    return cause_;
  }
  int times() {
    std::lock_guard<std::mutex> lock(mutex_);
    return times_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int times_ = 0;
  absl::Status cause_;
};

class NcclFailureTest : public ::testing::Test {
 protected:
  NcclFailureTest() {
    fake_.Reset();
    aborts_before_ = control().aborts;
    destroyed_before_ = control().destroyed;
  }
  ~NcclFailureTest() override {
    fake_.Reset();
    EXPECT_EQ(control().live_communicators, 0);
    EXPECT_EQ(control().live_events, 0);
    EXPECT_EQ(control().live_allocations, 0);
  }

  FakeNcclControl& control() { return fake_.control(); }
  int aborts() { return control().aborts - aborts_before_; }
  int destroyed() { return control().destroyed - destroyed_before_; }

  GroupPlace PlaceOf(int rank, int size) {
    return {.rank = rank, .size = size, .store = store_, .name = "world"};
  }

  // Creates a group of `size` ranks. Returns their transports, indexed by rank.
  std::vector<std::unique_ptr<Transport>> Group(int size) {
    std::vector<std::unique_ptr<Transport>> transports(size);
    const auto made = RunRanks(size, [&](int rank) {
      auto transport = NewNcclTransport(PlaceOf(rank, size), options_,
                                        MonotonicNow() + seconds(30));
      if (!transport.ok()) return transport.status();
      transports[rank] = *std::move(transport);
      return absl::OkStatus();
    });
    EXPECT_EQ(FirstFailure(made), absl::OkStatus());
    return transports;
  }

  // Starts an all_reduce of one element, and returns before the stream has
  // performed it.
  absl::Status Reduce(Transport& transport, Duration timeout = seconds(30)) {
    thread_local float value;
    value = 1;
    return transport.Execute(AllReduce(&value, &value, 1, DType::kFloat32),
                             Within(timeout));
  }

  const FakeLibrary fake_;
  int aborts_before_ = 0;
  int destroyed_before_ = 0;
  const std::shared_ptr<EndingStore> store_ = std::make_shared<EndingStore>();
  NcclOptions options_ = fake_.options();
};

TEST_F(NcclFailureTest, AHealthyGroupIsDestroyedNotAborted) {
  control().polls = 3;
  auto group = Group(2);
  EXPECT_EQ(FirstFailure(RunRanks(2,
                                  [&](int rank) {
                                    absl::Status done = Reduce(*group[rank]);
                                    fake_.Drain();
                                    return done;
                                  })),
            absl::OkStatus());
  group.clear();
  EXPECT_EQ(destroyed(), 2);
  EXPECT_EQ(aborts(), 0);
}

TEST_F(NcclFailureTest, ALateOperationBreaksTheGroup) {
  options_.explanation_timeout = milliseconds(20);
  Breakage breakage;
  options_.on_broken = breakage.Listener();
  auto group = Group(2);
  std::thread([&] {
    EXPECT_EQ(Reduce(*group[0], milliseconds(50)), absl::OkStatus())
        << "the stream has it";
    // Wait for the stream. Its work ends only when the transport aborts the
    // communicator because the operation is late.
    fake_.Drain();
    float nothing;
    const absl::Status of_nothing = group[0]->Execute(
        AllReduce(&nothing, &nothing, 0, DType::kFloat32), Within(seconds(30)));
    EXPECT_TRUE(absl::IsDeadlineExceeded(of_nothing)) << of_nothing;
    const absl::Status later = Reduce(*group[0]);
    EXPECT_TRUE(absl::IsDeadlineExceeded(later)) << later;
  }).join();
  EXPECT_THAT(Why(breakage.Cause()),
              AllOf(HasSubstr("all_reduce #1 of 1 float32 (4 bytes), sum has "
                              "not been done on the GPU"),
                    HasSubstr("of rank 1 nothing is known")));
  EXPECT_TRUE(absl::IsDeadlineExceeded(breakage.Cause()));
  group.clear();
  EXPECT_EQ(aborts(), 1) << "rank 1 heard it when asked next, or not at all";
}

TEST_F(NcclFailureTest, TheDeviceDoesNotWaitForADeadStore) {
  options_.explanation_timeout = milliseconds(20);
  auto group = Group(2);
  store_->Hang();
  std::thread([&] {
    EXPECT_EQ(Reduce(*group[0], milliseconds(30)), absl::OkStatus());
    // Wait for the stream. Its work ends only when the transport aborts the
    // communicator because the operation is late.
    fake_.Drain();
  }).join();
  EXPECT_TRUE(absl::IsDeadlineExceeded(Reduce(*group[0])));
  store_->GoOn();
}

TEST_F(NcclFailureTest, APeersAlarmEndsALaunchThatWaits) {
  auto group = Group(2);
  // Make NCCL return ncclInProgress so many times that no launch ever ends.
  control().polls = 1 << 30;
  std::thread waiting([&] {
    const absl::Status end = Reduce(*group[1], seconds(60));
    EXPECT_TRUE(absl::IsAborted(end)) << end;
    EXPECT_THAT(Why(end), HasSubstr("rank 0 gave the group up: enough"));
  });
  group[0]->Abort("enough");
  waiting.join();
}

TEST_F(NcclFailureTest, LateBarrierIsDeadlineExceeded) {
  options_.explanation_timeout = milliseconds(20);
  auto group = Group(2);
  const absl::Status late =
      group[0]->Execute(Barrier(), Within(milliseconds(30), 7));
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  EXPECT_THAT(Why(late), HasSubstr("barrier #7"));
}

TEST_F(NcclFailureTest, AMismatchIsLate) {
  auto group = Group(2);
  const auto ends = RunRanks(2, [&](int rank) {
    float value = 1;
    double other = 1;
    const Operation operation =
        rank == 0 ? AllReduce(&value, &value, 1, DType::kFloat32)
                  : AllReduce(&other, &other, 1, DType::kFloat64);
    absl::Status begun = group[rank]->Execute(operation, Within(seconds(30)));
    if (begun.ok()) {
      begun = group[rank]->Execute(Barrier(), Within(milliseconds(50), 2));
    }
    fake_.Drain();
    return begun;
  });
  for (const absl::Status& end : ends) {
    EXPECT_TRUE(absl::IsDeadlineExceeded(end)) << end;
    EXPECT_THAT(
        Why(end),
        AllOf(HasSubstr("barrier #2"), HasSubstr("behind all_reduce #1"),
              HasSubstr("rank 0 called all_reduce #1 of 1 float32"),
              HasSubstr("rank 1 called all_reduce #1 of 1 float64")));
  }
}

TEST_F(NcclFailureTest, AnAbortHereEndsThePeersToo) {
  Breakage breakage;
  options_.on_broken = breakage.Listener();
  auto group = Group(2);
  std::thread waiting([&] {
    const absl::Status end =
        group[1]->Execute(Barrier(), Within(seconds(30), 1));
    EXPECT_TRUE(absl::IsAborted(end)) << end;
    EXPECT_THAT(Why(end), HasSubstr("rank 0 gave the group up: enough"));
  });
  group[0]->Abort("enough");
  group[0]->Abort("again");
  waiting.join();
  EXPECT_EQ(Reduce(*group[0]), absl::AbortedError("enough"));
  group.clear();
  EXPECT_EQ(breakage.times(), 2) << "once a rank";
  EXPECT_EQ(aborts(), 2);
}

TEST_F(NcclFailureTest, AnAbortEndsALaunchThatWaits) {
  auto group = Group(2);
  // Make NCCL return ncclInProgress so many times that no launch ever ends.
  control().polls = 1 << 30;
  std::promise<void> begun;
  std::thread waiting([&] {
    begun.set_value();
    EXPECT_EQ(Reduce(*group[0]), absl::AbortedError("enough"));
  });
  EXPECT_EQ(begun.get_future().wait_for(seconds(30)), std::future_status::ready)
      << "the thread of the launch has not begun";
  group[0]->Abort("enough");
  waiting.join();
}

TEST_F(NcclFailureTest, ALaunchHasItsDeadline) {
  auto group = Group(2);
  control().polls = 1 << 30;
  const absl::Status late = Reduce(*group[0], milliseconds(30));
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  EXPECT_THAT(Why(late), HasSubstr("all_reduce #1"));
}

TEST_F(NcclFailureTest, AsynchronousErrorBreaksTheGroup) {
  Breakage breakage;
  options_.on_broken = breakage.Listener();
  auto group = Group(1);
  EXPECT_EQ(Reduce(*group[0]), absl::OkStatus());
  control().async_error = 2;
  EXPECT_TRUE(absl::IsUnavailable(breakage.Cause())) << breakage.Cause();
  EXPECT_THAT(Why(breakage.Cause()), AllOf(HasSubstr("unhandled system error"),
                                           HasSubstr("the fake's last words")));
  fake_.Drain();
}

TEST_F(NcclFailureTest, TheEndOfTheRoundEndsWhatIsUnderWay) {
  auto group = Group(2);
  std::thread waiting([&] {
    const absl::Status end = group[0]->Execute(Barrier(), Within(seconds(60)));
    EXPECT_TRUE(absl::IsUnavailable(end)) << end;
    EXPECT_THAT(Why(end), AllOf(HasSubstr("the round is over"),
                                HasSubstr("round 3 is broken")));
  });
  store_->End();
  waiting.join();
}

TEST_F(NcclFailureTest, AbsentRanksAreNamed) {
  const auto alone = NewNcclTransport(PlaceOf(0, 3), options_,
                                      MonotonicNow() + milliseconds(30));
  EXPECT_TRUE(absl::IsDeadlineExceeded(alone.status()));
  EXPECT_THAT(
      Why(alone.status()),
      AllOf(HasSubstr("rank 0 of 3 of group \"world\", joining"),
            HasSubstr("ranks 1-2 of group \"world\" never set out to")));
}

TEST_F(NcclFailureTest, ARankThatFailsToJoinEndsTheOthersWait) {
  control().rank_that_fails_to_join = 1;
  const auto ends = RunRanks(3, [&](int rank) {
    return NewNcclTransport(PlaceOf(rank, 3), options_,
                            MonotonicNow() + seconds(60))
        .status();
  });
  EXPECT_THAT(Why(ends[1]), HasSubstr("unhandled system error"));
  for (const int rank : {0, 2}) {
    EXPECT_TRUE(absl::IsUnavailable(ends[rank])) << ends[rank];
    EXPECT_THAT(Why(ends[rank]), AllOf(HasSubstr("rank 1 gave the group up"),
                                       HasSubstr("unhandled system error")));
  }
}

// Rank 1 fails before it calls NCCL, while rank 0 already waits inside NCCL for
// rank 1 to join the communicator. Rank 0's wait must end with rank 1's error.
TEST_F(NcclFailureTest, ARankThatFailsElsewhereEndsTheOthersWait) {
  const Instant deadline = MonotonicNow() + seconds(60);
  const auto ends = RunRanks(2, [&](int rank) {
    auto formation = Formation::Begin(store_, rank, deadline);
    if (!formation.ok()) return formation.status();
    absl::Status end;
    if (rank == 0) {
      GroupPlace place = PlaceOf(0, 2);
      place.formation = *formation;
      end = NewNcclTransport(std::move(place), options_, deadline).status();
    } else {
      end = store_->Wait({"nccl_here/joining/0"}, deadline);
      if (end.ok()) end = (*formation)->Fail(absl::InternalError("no room"));
    }
    (*formation)->End();
    return end;
  });
  EXPECT_TRUE(absl::IsInternal(ends[0])) << ends[0];
  EXPECT_THAT(Why(ends[0]), AllOf(HasSubstr("rank 1"), HasSubstr("no room")));
}

TEST_F(NcclFailureTest, ARankWithoutNcclEndsTheOthersWait) {
  const auto ends = RunRanks(2, [&](int rank) {
    NcclOptions options = options_;
    if (rank == 0) options.nccl_library = "libno-such-nccl.so.2";
    return NewNcclTransport(PlaceOf(rank, 2), options,
                            MonotonicNow() + seconds(60))
        .status();
  });
  EXPECT_TRUE(absl::IsNotFound(ends[0])) << ends[0];
  EXPECT_THAT(Why(ends[1]), HasSubstr("there is no NCCL here"));
}

TEST_F(NcclFailureTest, AnAbortThatNeverComesBackHoldsNobodyUp) {
  options_.close_timeout = milliseconds(20);
  {
    auto group = Group(1);
    control().abort_hangs = true;
    group[0]->Abort("enough");
  }
  control().abort_hangs = false;
  // The transport's destructor has not waited for the transport's thread, which
  // hangs in ncclCommAbort. Now abort_hangs is false, so the thread must return
  // and free everything; wait at most 30 seconds for this.
  const Instant end = MonotonicNow() + seconds(30);
  while (MonotonicNow() < end &&
         (control().live_communicators > 0 || control().live_allocations > 0)) {
    std::this_thread::yield();
  }
}

TEST_F(NcclFailureTest, RefusesWhatCannotWork) {
  const auto make = [&](GroupPlace place, NcclOptions options) {
    return NewNcclTransport(std::move(place), std::move(options),
                            MonotonicNow() + seconds(30))
        .status();
  };
  EXPECT_TRUE(absl::IsInvalidArgument(make(PlaceOf(2, 2), options_)));
  GroupPlace no_store = PlaceOf(0, 2);
  no_store.store = nullptr;
  EXPECT_TRUE(absl::IsInvalidArgument(make(no_store, options_)));
  NcclOptions no_id = options_;
  no_id.unique_id = "xyz";
  EXPECT_TRUE(absl::IsInvalidArgument(make(PlaceOf(0, 1), no_id)));
  NcclOptions no_device = options_;
  no_device.device = 9;
  EXPECT_THAT(Why(make(PlaceOf(0, 1), no_device)),
              HasSubstr("no CUDA device 9"));
  control().devices = 2;
  EXPECT_THAT(Why(make(PlaceOf(0, 1), options_)),
              HasSubstr("this process sees 2 GPUs and has chosen none"));
  control().devices = 1;
  setenv("NCCL_COMM_BLOCKING", "1", 1);
  EXPECT_THAT(Why(make(PlaceOf(0, 1), options_)),
              HasSubstr("NCCL_COMM_BLOCKING=1"));
  unsetenv("NCCL_COMM_BLOCKING");
}

}  // namespace
}  // namespace muster
