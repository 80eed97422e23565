#include "trainer_sdk/session/stop_request.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

absl::Status ExpectAll(ProcessGroup& world, bool expected) {
  const auto asked = StopRequest::AskedAnyone(world);
  if (!asked.ok()) return asked.status();
  EXPECT_EQ(*asked, expected) << "rank " << world.rank();
  return absl::OkStatus();
}

// This must be the first test of the file: once a signal has arrived,
// StopRequest::Asked returns true until the process ends.
TEST(StopRequestTest, ANoticeOfPreemptionAsks) {
  const std::string notice = testing::TempDir() + "preemption.json";
  std::filesystem::remove(notice);
  setenv("MUSTER_PREEMPTION_FILE", "", 1);
  EXPECT_FALSE(StopRequest::Asked());
  setenv("MUSTER_PREEMPTION_FILE", notice.c_str(), 1);
  EXPECT_FALSE(StopRequest::Asked());
  std::ofstream(notice) << "{}\n";
  EXPECT_TRUE(StopRequest::Asked());
  std::filesystem::remove(notice);
  EXPECT_FALSE(StopRequest::Asked());
}

TEST(StopRequestTest, ASignalAsksAndDoesNotEnd) {
  StopRequest::Listen();
  EXPECT_FALSE(StopRequest::Asked());
  RunWorld(3, [](ProcessGroup& world) { return ExpectAll(world, false); });
  ASSERT_EQ(raise(SIGTERM), 0);
  EXPECT_TRUE(StopRequest::Asked());
  const auto statuses =
      RunWorld(3, [](ProcessGroup& world) { return ExpectAll(world, true); });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
}

// Each of these tests runs in a process of its own, because after a signal
// StopRequest::Asked returns true until the process ends.
class CtrlCDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    std::signal(SIGINT, SIG_DFL);
  }
};

TEST_F(CtrlCDeathTest, SecondSigintAsksAsWell) {
  EXPECT_EXIT(
      {
        StopRequest::Listen();
        if (StopRequest::Asked()) std::_Exit(1);
        raise(SIGINT);
        raise(SIGINT);
        std::_Exit(StopRequest::Asked() ? 0 : 2);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(CtrlCDeathTest, AnotherEndsTheProcess) {
  EXPECT_EXIT(
      {
        StopRequest::Listen();
        while (true) raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST_F(CtrlCDeathTest, IgnoredSigintStaysIgnored) {
  EXPECT_EXIT(
      {
        std::signal(SIGINT, SIG_IGN);
        StopRequest::Listen();
        raise(SIGINT);
        std::_Exit(StopRequest::Asked() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace muster
