#include "trainer_sdk/session/stop_request.h"

#include <csignal>

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
