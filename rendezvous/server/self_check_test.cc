#include "rendezvous/server/self_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace muster::rendezvous {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class SelfCheckTest : public ::testing::Test {
 protected:
  SelfCheck check_;
  Instant now_{seconds(1000)};
};

TEST_F(SelfCheckTest, RunsOnlyIfAsked) {
  EXPECT_FALSE(check_.IsDue(now_));
  EXPECT_EQ(check_.NextDeadline(), std::nullopt);
  EXPECT_TRUE(check_.Ask(now_).ok());
  EXPECT_TRUE(check_.IsDue(now_));
  EXPECT_EQ(check_.NextDeadline(), now_);
  check_.Started(now_);
  EXPECT_FALSE(check_.IsDue(now_ + seconds(3)));
  EXPECT_EQ(check_.NextDeadline(), now_ + SelfCheck::kTimeout);
  check_.Answered();
  EXPECT_FALSE(check_.IsDue(now_ + seconds(3)));
}

TEST_F(SelfCheckTest, TwoChecksDoNotFollowEachOtherAtOnce) {
  check_.Ask(now_).IgnoreError();
  check_.Started(now_);
  check_.Answered();
  check_.Ask(now_).IgnoreError();
  EXPECT_FALSE(check_.IsDue(now_));
  EXPECT_EQ(check_.NextDeadline(), now_ + SelfCheck::kInterval);
  EXPECT_TRUE(check_.IsDue(now_ + SelfCheck::kInterval));
}

TEST_F(SelfCheckTest, TwoFailuresInARowAreADeadListener) {
  for (int i = 0; i < SelfCheck::kMaxFailures; ++i) {
    EXPECT_TRUE(check_.Ask(now_).ok());
    check_.Started(now_);
    check_.Failed("Connection refused");
    now_ += SelfCheck::kInterval;
  }
  const absl::Status dead = check_.Ask(now_);
  EXPECT_EQ(dead.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(dead.message()), HasSubstr("Connection refused"));
  check_.Started(now_);
  check_.Answered();
  EXPECT_TRUE(check_.Ask(now_).ok()) << "one answer is enough";
  check_.Started(now_);
  check_.Failed("x");
  EXPECT_TRUE(check_.Ask(now_).ok()) << "a failure after it is the first";
}

TEST_F(SelfCheckTest, ACheckThatNeverEndsIsADeadListener) {
  EXPECT_TRUE(check_.Ask(now_).ok());
  EXPECT_TRUE(check_.Ask(now_ + SelfCheck::kMaxDelay).ok());
  const absl::Status dead =
      check_.Ask(now_ + SelfCheck::kMaxDelay + seconds(1));
  EXPECT_EQ(dead.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(dead.message()), HasSubstr("stood still for 16 s"));
}

}  // namespace
}  // namespace muster::rendezvous
