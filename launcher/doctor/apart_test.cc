#include "launcher/doctor/apart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

using ::testing::HasSubstr;

constexpr Duration kChildTimeout = std::chrono::seconds(60);

TEST(RunApart, AnEndedChildsExitCodeIsReturned) {
  const auto code = RunApart(kChildTimeout, [] { return 4; });
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, 4);
}

TEST(RunApart, ACrashIsReportedWithItsSignal) {
  const auto code = RunApart(kChildTimeout, [] {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    return 0;
  });
  EXPECT_EQ(code.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(code.status().message()), HasSubstr("signal 11"));
}

TEST(RunApart, AHangingChildTimesOut) {
  const auto code = RunApart(std::chrono::milliseconds(10), [] {
    while (true) pause();
    return 0;
  });
  EXPECT_EQ(code.status().code(), absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace muster::launcher
