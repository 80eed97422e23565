// Tests the errors that a pipeline's ranks return when one rank fails, is late
// or dies.
#include <signal.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/pipeline/runtime/pipeline_runtime.h"
#include "trainer_sdk/pipeline/runtime/recording_stage.h"
#include "trainer_sdk/pipeline/schedule/generators.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"
#include "trainer_sdk/shared_memory/testing/forked_ranks.h"
#include "trainer_sdk/transports/new_transport.h"

namespace muster {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kRanks = 4;
// A timeout that is much longer than any step takes, even with sanitizers on a
// busy machine.
constexpr Duration kLong = std::chrono::seconds(60);
const PipelineShape kShape{kRanks, 1, 6};
const Action kFatal{2, ActionKind::kForward, 1};

// Makes a pipeline and runs one step of it on this rank. Stage 2 calls
// `on_fatal` before its forward pass of micro-batch 1.
absl::Status OneStep(ProcessGroup& group, Duration timeout,
                     const std::function<absl::Status()>& on_fatal) {
  std::vector<Action> calls;
  RecordingStage stage(group.rank(), kShape, 1000, &calls);
  stage.on_pass = [&](const Action& action) {
    return action == kFatal ? on_fatal() : absl::OkStatus();
  };
  auto runtime =
      PipelineRuntime::Create(group, *MakeSchedule(ScheduleKind::k1F1B, kShape),
                              {&stage}, {.timeout = timeout});
  if (!runtime.ok()) return runtime.status();
  absl::Status status = (*runtime)->Step().status();
  // Later calls must fail with the same error, because the pipeline stays
  // broken.
  EXPECT_EQ((*runtime)->Step().status(), status);
  EXPECT_EQ((*runtime)->Evaluate().status(), status);
  return status;
}

std::string Text(const absl::Status& status) {
  return std::string(status.message());
}

TEST(PipelineFailuresTest, AStageThatFailsIsNamedEverywhere) {
  for (const TransportChoice choice :
       {TransportChoice::kSharedMemory, TransportChoice::kTcp,
        TransportChoice::kGloo}) {
    SCOPED_TRACE(Name(choice));
    const auto statuses = RunWorld(
        kRanks,
        [](ProcessGroup& group) {
          return OneStep(group, kLong, [] {
            return absl::ResourceExhaustedError("out of paper");
          });
        },
        [choice](GroupPlace place, Instant deadline) {
          return NewTransport(std::move(place), choice, deadline);
        });
    EXPECT_EQ(statuses[2].code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(Text(statuses[2]), "stage 2 on rank 2, 2F1: out of paper");
    for (const int rank : {0, 1, 3}) {
      EXPECT_THAT(
          Text(statuses[rank]),
          EndsWith(", but the pipeline broke: stage 2 on rank 2, 2F1: out of "
                   "paper"));
      EXPECT_THAT(
          Text(statuses[rank]),
          StartsWith(absl::StrCat("stage ", rank, " on rank ", rank, " ")));
    }
  }
}

// A gate at which threads wait until another thread opens it.
class Door {
 public:
  void Open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void WaitFor() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_until(lock, ToSteady(MonotonicNow() + kLong),
                        [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

TEST(PipelineFailuresTest, SlowRankIsNamedWithStageAndMicroBatch) {
  Door failed;
  const auto statuses = RunWorld(
      kRanks,
      [&](ProcessGroup& group) {
        const bool patient = group.rank() != 3;
        absl::Status status =
            OneStep(group, patient ? kLong : std::chrono::seconds(3), [&] {
              failed.WaitFor();
              return absl::OkStatus();
            });
        if (!patient) failed.Open();
        return status;
      },
      [](const GroupPlace& place, Instant deadline) {
        return NewSharedMemoryTransport(place, {}, deadline);
      });
  EXPECT_EQ(statuses[3].code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Text(statuses[3]),
              HasSubstr("stage 3 on rank 3 waits for the activations of "
                        "micro-batch 1 from stage 2 on rank 2: "));
  for (const absl::Status& status : statuses) {
    EXPECT_THAT(Text(status), HasSubstr("rank 2"));
  }
}

TEST(PipelineFailuresTest, DeadRankIsNamed) {
  const ForkedRanks ranks(kRanks, [](const GroupPlace& place) {
    ProcessGroupOptions options;
    options.timeout = kLong;
    auto group = ProcessGroup::Create(
        place,
        [](const GroupPlace& own, Instant deadline) {
          return NewSharedMemoryTransport(own, {}, deadline);
        },
        options);
    if (!group.ok()) return group.status();
    return OneStep(**group, kLong, [] {
      raise(SIGKILL);
      return absl::OkStatus();
    });
  });
  const auto statuses = ranks.Wait(MonotonicNow() + kLong);
  EXPECT_EQ(statuses[2].code(), absl::StatusCode::kCancelled);
  for (const int neighbour : {1, 3}) {
    EXPECT_THAT(Text(statuses[neighbour]), HasSubstr("stage 2 on rank 2: "));
    EXPECT_THAT(Text(statuses[neighbour]), HasSubstr("died"));
  }
  // Rank 0 has no connection to rank 2, which died. So rank 0 must learn of the
  // death from rank 1, its neighbour.
  EXPECT_THAT(Text(statuses[0]),
              HasSubstr("but the pipeline broke: stage 1 on rank 1 "));
  EXPECT_THAT(Text(statuses[0]), HasSubstr("died"));
}

}  // namespace
}  // namespace muster
