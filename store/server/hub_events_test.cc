#include "store/server/hub_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace muster::store {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(BoundedNoticesTest, TheLastOneSaysThatItIs) {
  std::vector<std::string> said;
  BoundedNotices notices(
      [&said](const std::string& sentence) { said.push_back(sentence); }, 3);
  for (const char* sentence : {"one", "two", "three", "four"}) {
    notices.Say(sentence);
  }
  EXPECT_THAT(said, ElementsAre("one", "two", HasSubstr("no more")));
}

TEST(BoundedNoticesTest, AnEmptySinkIsAllowed) {
  BoundedNotices notices({}, 3);
  notices.Say("one");
}

TEST(TickTimerTest, IsDueOnceAPeriod) {
  const Instant start = Instant() + milliseconds(5000);
  TickTimer timer(milliseconds(100));
  EXPECT_EQ(timer.Left(start), milliseconds(0)) << "the first at any moment";
  EXPECT_TRUE(timer.Take(start));
  EXPECT_FALSE(timer.Take(start));
  EXPECT_EQ(timer.Left(start), milliseconds(100));
  EXPECT_EQ(timer.Left(start + microseconds(98'100)), milliseconds(2));
  EXPECT_FALSE(timer.Take(start + microseconds(99'999)));
  EXPECT_EQ(timer.Left(start + milliseconds(150)), milliseconds(0));
  // A late tick does not shorten the next period.
  EXPECT_TRUE(timer.Take(start + milliseconds(150)));
  EXPECT_EQ(timer.Left(start + milliseconds(150)), milliseconds(100));
}

}  // namespace
}  // namespace muster::store
