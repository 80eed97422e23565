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

// First: what a signal has asked for stands.
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

}  // namespace
}  // namespace muster
