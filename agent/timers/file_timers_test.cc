#include "agent/timers/file_timers.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

std::string Request(int pid, const std::string& scope, double expires,
                    int signal = 9) {
  return absl::StrCat("{\"version\": 1, \"pid\": ", pid, ", \"scope_id\": \"",
                      scope, "\", \"expiration_time\": ", expires,
                      ", \"signal\": ", signal, "}\n");
}

TEST(FileTimersTest, ATimerExpiresOnce) {
  FileTimers timers;
  EXPECT_TRUE(timers.Take(Request(7, "step", 100)));
  EXPECT_EQ(timers.NextExpiry(), 100);
  EXPECT_TRUE(timers.TakeExpired(99).empty());
  const auto expired = timers.TakeExpired(100);
  ASSERT_EQ(expired.size(), 1u);
  EXPECT_EQ(expired[0].pid, 7);
  EXPECT_EQ(expired[0].scope, "step");
  EXPECT_EQ(expired[0].signal, 9);
  EXPECT_TRUE(timers.TakeExpired(200).empty());
  EXPECT_FALSE(timers.NextExpiry().has_value());
}

TEST(FileTimersTest, AReleasedTimerDoesNotExpire) {
  FileTimers timers;
  timers.Take(Request(7, "step", 100) + Request(7, "step", -1, 0));
  EXPECT_TRUE(timers.TakeExpired(200).empty());
}

TEST(FileTimersTest, ASecondRequestReplacesTheFirst) {
  FileTimers timers;
  timers.Take(Request(7, "step", 100) + Request(7, "step", 300));
  EXPECT_TRUE(timers.TakeExpired(200).empty());
  EXPECT_EQ(timers.TakeExpired(300).size(), 1u);
}

TEST(FileTimersTest, TheFirstThatAsksForASignalCounts) {
  FileTimers timers;
  timers.Take(Request(7, "a", 90, 0) + Request(7, "b", 100, 15) +
              Request(7, "c", 95, 9) + Request(7, "later", 500, 9) +
              Request(8, "quiet", 50, -1));
  const auto expired = timers.TakeExpired(100);
  ASSERT_EQ(expired.size(), 2u);
  EXPECT_EQ(expired[0].scope, "c");
  EXPECT_EQ(expired[0].signal, 9);
  EXPECT_EQ(expired[1].scope, "quiet");
  EXPECT_EQ(expired[1].signal, 0);
  EXPECT_TRUE(timers.TakeExpired(1000).empty()) << "the process is reaped";
}

TEST(FileTimersTest, ALineMayComeInPieces) {
  FileTimers timers;
  const std::string line = Request(7, "step", 100);
  for (const char byte : line) EXPECT_TRUE(timers.Take({&byte, 1}));
  EXPECT_EQ(timers.TakeExpired(100).size(), 1u);
}

TEST(FileTimersTest, InvalidRequestIsIgnored) {
  FileTimers timers;
  for (const char* const line :
       {"", "{}", "[1]", "x", "{\"pid\": 1}", "{\"pid\": \"1\"}"}) {
    EXPECT_FALSE(timers.Take(absl::StrCat(line, "\n"))) << line;
  }
  EXPECT_FALSE(timers.Take(Request(0, "x", 1)));
  EXPECT_FALSE(timers.Take(Request(-1, "x", 1)));
  EXPECT_FALSE(timers.Take(Request(1, "x", 1, 65)));
  EXPECT_FALSE(
      timers.Take(std::string(FileTimers::kMaxLineBytes + 1, '[') + "\n"));
  EXPECT_FALSE(timers.NextExpiry().has_value());
  EXPECT_TRUE(timers.Take(Request(1, "x", 1)));
}

}  // namespace
}  // namespace muster::agent
