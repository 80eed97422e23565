#include "rendezvous/server/alarm_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <vector>

#include "base/monotonic_clock.h"

namespace muster::rendezvous {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;

TEST(AlarmThreadTest, CallsInOrderOfTime) {
  AlarmThread alarms;
  std::promise<void> done;
  std::vector<int> called;
  const Instant soon = MonotonicNow() + milliseconds(20);
  alarms.CallAt(soon + milliseconds(1), [&] {
    called.push_back(3);
    done.set_value();
  });
  alarms.CallAt(soon, [&] { called.push_back(1); });
  alarms.CallAt(soon, [&] { called.push_back(2); });
  ASSERT_EQ(done.get_future().wait_for(seconds(20)), std::future_status::ready);
  EXPECT_THAT(called, ElementsAre(1, 2, 3));
}

TEST(AlarmThreadTest, IsNeverEarly) {
  AlarmThread alarms;
  std::promise<Instant> called;
  const Instant when = MonotonicNow() + milliseconds(5);
  alarms.CallAt(when, [&] { called.set_value(MonotonicNow()); });
  EXPECT_GE(called.get_future().get(), when);
}

TEST(AlarmThreadTest, AnEarlierOneOvertakesALongWait) {
  AlarmThread alarms;
  std::promise<void> done;
  alarms.CallAt(MonotonicNow() + hours(1), [] {});
  alarms.CallAt(MonotonicNow(), [&] { done.set_value(); });
  EXPECT_EQ(done.get_future().wait_for(seconds(20)), std::future_status::ready);
}

TEST(AlarmThreadTest, ACallMaySetAnother) {
  AlarmThread alarms;
  std::promise<void> done;
  alarms.CallAt(MonotonicNow(), [&] {
    alarms.CallAt(MonotonicNow(), [&] { done.set_value(); });
  });
  EXPECT_EQ(done.get_future().wait_for(seconds(20)), std::future_status::ready);
}

TEST(AlarmThreadTest, EndingDropsPendingAlarms) {
  std::atomic<int> called = 0;
  const auto held = std::make_shared<int>();
  {
    AlarmThread alarms;
    alarms.CallAt(MonotonicNow() + hours(1), [&, held] { ++called; });
  }
  EXPECT_EQ(called, 0);
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace muster::rendezvous
