#include "agent/commands/timed_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <future>

namespace muster::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

// Receives the result of a task; Wait returns it.
class Outcome {
 public:
  TimedTask::Done Done() {
    return [this](const absl::Status& outcome) { promise_.set_value(outcome); };
  }
  absl::Status Wait() {
    if (future_.wait_for(seconds(60)) != std::future_status::ready) {
      return absl::InternalError("nothing came");
    }
    return future_.get();
  }

 private:
  std::promise<absl::Status> promise_;
  std::future<absl::Status> future_ = promise_.get_future();
};

absl::Status AwaitCancel(int cancel_fd) {
  pollfd cancel = {.fd = cancel_fd, .events = POLLIN, .revents = 0};
  poll(&cancel, 1, /*timeout=*/60'000);
  return absl::CancelledError("cancelled");
}

TEST(TimedTask, ResultOfTheTaskIsDelivered) {
  TimedTask task;
  Outcome outcome;
  task.Start([](int) { return absl::NotFoundError("no disk"); }, hours(1),
             outcome.Done());
  EXPECT_EQ(outcome.Wait(), absl::NotFoundError("no disk"));
}

TEST(TimedTask, SlowTaskEndsWithDeadlineExceeded) {
  TimedTask task;
  Outcome outcome;
  task.Start(AwaitCancel, milliseconds(50), outcome.Done());
  const absl::Status status = outcome.Wait();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr("within 0.05 s"));
}

TEST(TimedTask, ACancelKnowsWhetherThereWasAnything) {
  TimedTask task;
  EXPECT_EQ(task.Cancel(), TimedTask::CancelResult::kFinished);
  Outcome outcome;
  task.Start([](int) { return absl::OkStatus(); }, hours(1), outcome.Done());
  EXPECT_TRUE(outcome.Wait().ok());
  EXPECT_EQ(task.Cancel(), TimedTask::CancelResult::kFinished);
  task.Start(AwaitCancel, hours(1), [](const absl::Status&) {});
  EXPECT_EQ(task.Cancel(), TimedTask::CancelResult::kRunning);
}

TEST(TimedTask, CancelledTaskDeliversNoResult) {
  std::promise<void> told;
  {
    TimedTask task;
    task.Start(AwaitCancel, hours(1),
               [&](const absl::Status&) { told.set_value(); });
    task.Cancel();
  }
  EXPECT_EQ(told.get_future().wait_for(seconds(0)),
            std::future_status::timeout);
}

TEST(TimedTask, ANewOneTakesTheOldOnesPlace) {
  TimedTask task;
  task.Start(AwaitCancel, hours(1),
             [](const absl::Status&) { ADD_FAILURE() << "the old one"; });
  Outcome outcome;
  task.Start([](int) { return absl::OkStatus(); }, hours(1), outcome.Done());
  EXPECT_TRUE(outcome.Wait().ok());
}

}  // namespace
}  // namespace muster::agent
