#include "agent/guardian/descendants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Stat(const std::string& command) {
  return "4711 (" + command +
         ") S 12 34 56 0 -1 4194368 195 0 0 0 0 0 0 0 20 0 1 0 987654 1 2\n";
}

TEST(ParseProcessStat, ReadsItsFieldsWhateverTheCommandIs) {
  for (const char* command :
       {"python3", "a b", "x) R 1 1 1", "((", ") ", "new\nline", ""}) {
    const auto process = ParseProcessStat(Stat(command));
    ASSERT_TRUE(process.has_value()) << command;
    EXPECT_EQ(*process, (ProcessEntry{4711, 12, 34, 'S', 987654})) << command;
  }
}

TEST(ParseProcessStat, RefusesWhatIsNoSuchLine) {
  const std::string whole = Stat("x");
  // A line that is cut off before its field with the start time is invalid.
  for (size_t size = 0; size < whole.find("987654"); ++size) {
    EXPECT_FALSE(ParseProcessStat(whole.substr(0, size)).has_value()) << size;
  }
  EXPECT_FALSE(ParseProcessStat("x (y) S 1 2").has_value());
  EXPECT_FALSE(ParseProcessStat(") 1 (").has_value());
  EXPECT_FALSE(ParseProcessStat("-" + whole).has_value());
  EXPECT_FALSE(ParseProcessStat("0" + whole.substr(4)).has_value());
}

TEST(DescendantsAmong, FollowsParentsBreadthFirst) {
  const std::vector<ProcessEntry> processes = {
      {30, 20}, {10, 1}, {20, 10}, {21, 10}, {99, 1}, {31, 21}, {32, 30}};
  std::vector<pid_t> pids;
  for (const auto& process : DescendantsAmong(processes, 10)) {
    pids.push_back(process.pid);
  }
  EXPECT_THAT(pids, ElementsAre(20, 21, 30, 31, 32));
  EXPECT_THAT(DescendantsAmong(processes, 99), IsEmpty());
  EXPECT_THAT(DescendantsAmong({}, 1), IsEmpty());
}

TEST(DescendantsAmong, EndsWhereAWalkShowsACircle) {
  const std::vector<ProcessEntry> processes = {{2, 1}, {3, 2}, {1, 3}, {2, 3}};
  EXPECT_EQ(DescendantsAmong(processes, 1).size(), 2u);
}

class ChildTest : public ::testing::Test {
 protected:
  ChildTest() : child_(fork()) {
    if (child_ == 0) {
      while (true) pause();
    }
  }
  ~ChildTest() override {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

  const pid_t child_;
};

TEST_F(ChildTest, IsFoundAndSignalled) {
  const auto found = Descendants(getpid());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pid, child_);
  EXPECT_EQ(found[0].group, getpgrp());
  SignalProcess(found[0], SIGUSR1);
  int status = 0;
  EXPECT_EQ(waitpid(child_, &status, 0), child_);
  EXPECT_EQ(WTERMSIG(status), SIGUSR1);
}

TEST_F(ChildTest, IsSparedWhereAnotherHadItsPid) {
  ProcessEntry earlier = *ReadProcess(child_);
  earlier.start_time -= 1;
  SignalProcess(earlier, SIGKILL);
  EXPECT_EQ(waitpid(child_, nullptr, WNOHANG), 0);
  EXPECT_THAT(KillDescendants({*ReadProcess(child_)}), IsEmpty());
  EXPECT_EQ(waitpid(child_, nullptr, WNOHANG), 0);
  EXPECT_EQ(KillDescendants({earlier}).size(), 1u);
  EXPECT_EQ(waitpid(child_, nullptr, 0), child_);
}

}  // namespace
}  // namespace muster::agent
