#include "agent/logs/log_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace muster::agent {
namespace {

TEST(LogPathsTest, PlainRunIdsStayAsTheyAre) {
  EXPECT_EQ(RunFolder("/logs", "exp-7_b.2"), "/logs/exp-7_b.2");
  EXPECT_EQ(AttemptFolder("/logs/exp", 2), "/logs/exp/attempt_2");
  EXPECT_EQ(WorkerFolder("/logs/exp", 2, 17), "/logs/exp/attempt_2/17");
  EXPECT_EQ(EventLogPath("/logs", "exp"), "/logs/exp/events.jsonl");
  EXPECT_EQ(TaggedRunName("exp", "1a2b"), "exp_1a2b");
  EXPECT_EQ(TaggedRunName("exp", ""), "exp");
}

TEST(LogPathsTest, ARunIdCannotLeaveTheFolderOrHide) {
  const std::vector<std::string> kIds = {
      "",     ".",   "..",      "../../etc", "a/b",
      "/abs", "...", "~",       ".hidden",   std::string("nul\0x", 5),
      "a\nb", "a b", "\xc3\xbc"};
  for (const std::string& id : kIds) {
    std::string folder = RunFolder("/logs", id);
    ASSERT_TRUE(folder.starts_with("/logs/")) << folder;
    std::string name = folder.substr(6);
    EXPECT_THAT(name, ::testing::MatchesRegex("[A-Za-z0-9_-][A-Za-z0-9._-]*"))
        << id;
  }
}

TEST(LogPathsTest, DifferentRunIdsHaveDifferentFolders) {
  EXPECT_NE(RunFolder("/l", "a/b"), RunFolder("/l", "a_b"));
  EXPECT_NE(RunFolder("/l", "a/b"), RunFolder("/l", "a:b"));
  std::string prefix(300, 'x');
  EXPECT_NE(RunFolder("/l", prefix + "1"), RunFolder("/l", prefix + "2"));
  EXPECT_LT(RunFolder("/l", prefix).size(), 200u);
}

TEST(LogPathsTest, NoRunIsCalledAsTheLinkToTheNewest) {
  EXPECT_NE(RunFolder("/logs", "latest"), LatestLink("/logs"));
}

}  // namespace
}  // namespace muster::agent
