#include "launcher/doctor/apart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "launcher/doctor/worker_outcome.h"

namespace muster::launcher {
namespace {

using ::testing::HasSubstr;

constexpr Duration kPatience = std::chrono::seconds(60);

TEST(RunApart, AnEndedChildsExitCodeIsReturned) {
  const auto code = RunApart(kPatience, [] { return 4; });
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, 4);
}

TEST(RunApart, ACrashIsReportedWithItsSignal) {
  const auto code = RunApart(kPatience, [] {
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

TEST(OutcomeFile, AResultIsWrittenReadAndDeleted) {
  std::string path;
  {
    const auto file = OutcomeFile::Make(testing::TempDir());
    ASSERT_TRUE(file.ok()) << file.status();
    path = file->path();
    EXPECT_FALSE(file->Read().has_value());
    ASSERT_TRUE(LeaveExitCode(path, 4));
    EXPECT_EQ(file->Read()->exit_code, 4);
    EXPECT_EQ(file->Read()->page, "");
    ASSERT_TRUE(LeavePage(path, {3, "a page\nof lines\n"}));
    // A node that shares the folder does not overwrite a result.
    ASSERT_TRUE(LeaveExitCode(path, 4));
    const auto outcome = file->Read();
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(outcome->exit_code, 3);
    EXPECT_EQ(outcome->page, "a page\nof lines\n");
  }
  // A file that does not exist is another node's and is not created.
  EXPECT_FALSE(LeavePage(path, {0, ""}));
  EXPECT_FALSE(LeaveExitCode(path, 0));
  EXPECT_FALSE(OutcomeFile::Make("/no/such/folder").ok());
}

}  // namespace
}  // namespace muster::launcher
