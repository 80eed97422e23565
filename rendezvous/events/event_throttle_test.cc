#include "rendezvous/events/event_throttle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::rendezvous {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

Decision Of(const char* kind) { return {kind, 1, "node", "because"}; }

class EventThrottleTest : public ::testing::Test {
 protected:
  // Adds `count` decisions of `kind` at the same time, and counts the returned
  // summaries (kind "omitted"). Returns how many of the added decisions the
  // throttle permits to be written to the event log.
  int Add(const char* kind, int count) {
    int written = 0;
    for (int i = 0; i < count; ++i) {
      const EventThrottle::Result result = throttle_.Add(now_, Of(kind));
      written += result.written ? 1 : 0;
      if (result.omitted.has_value()) {
        ++summaries_;
        summary_ = result.omitted->reason;
        EXPECT_EQ(result.omitted->kind, "omitted");
      }
    }
    return written;
  }
  EventThrottle throttle_;
  Instant now_{hours(1)};
  int summaries_ = 0;
  std::string summary_;
};

TEST_F(EventThrottleTest, ABurstOfJoinsIsWrittenWhole) {
  EXPECT_EQ(Add("join", 20'000), 20'000);
  EXPECT_EQ(summaries_, 0);
  EXPECT_EQ(throttle_.Rest(), std::nullopt);
}

TEST_F(EventThrottleTest, JoinsBeyondABurstAreCountedOnceASecond) {
  Add("join", 20'000);
  EXPECT_EQ(Add("join", 500), 0);
  EXPECT_EQ(summaries_, 1);
  EXPECT_THAT(summary_, HasSubstr("1 join"));
  now_ += milliseconds(999);
  Add("refuse", 7);
  EXPECT_EQ(summaries_, 1);
  now_ += milliseconds(1);
  EXPECT_EQ(Add("refuse", 100), 1);
  EXPECT_EQ(summaries_, 2);
  EXPECT_THAT(summary_, HasSubstr("499 join, 7 refuse"));
  EXPECT_THAT(throttle_.Rest()->reason, HasSubstr("99 refuse"));
}

TEST_F(EventThrottleTest, StrangersDoNotKeepAJobsDecisionsOut) {
  Add("join", 30'000);
  for (const char* kind : {"assign", "break", "failure", "finish", "cancel"}) {
    EXPECT_EQ(Add(kind, 100), 100) << kind;
  }
}

// For a whole day, two nodes join and two nodes are lost in every second. The
// event log gets at most kBurst (20,000) of these decisions, and one more per
// second.
TEST_F(EventThrottleTest, ADayOfJoinsIsBounded) {
  int written = 0;
  for (int i = 0; i < 24 * 3600; ++i) {
    written += Add("join", 2) + Add("lost", 2);
    now_ += seconds(1);
  }
  EXPECT_LE(written, 20'000 + 24 * 3600);
  EXPECT_LE(summaries_, 24 * 3600);
}

TEST_F(EventThrottleTest, AnAllowanceFillsAgain) {
  Add("join", 30'000);
  now_ += seconds(10);
  EXPECT_EQ(Add("join", 100), 10);
  now_ += hours(24);
  EXPECT_EQ(Add("join", 30'000), 20'000);
}

TEST_F(EventThrottleTest, JobsDecisionsHaveALimitToo) {
  EXPECT_EQ(Add("assign", 30'000), 20'000);
  now_ += seconds(1);
  EXPECT_EQ(Add("assign", 100), 10);
}

}  // namespace
}  // namespace muster::rendezvous
