#include "agent/commands/shell_command.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "base/owned_fd.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

absl::Status Shell(const std::string& command) {
  return RunShellCommand({.command = command});
}

std::string Why(const absl::Status& status) {
  return std::string(status.message());
}

TEST(ShellCommand, SucceedsWithExitCode0) {
  EXPECT_TRUE(Shell("echo fine").ok());
  EXPECT_TRUE(Shell("test -z \"$(cat)\"").ok()) << "something came at stdin";
}

TEST(ShellCommand, ItsLastLineIsTheReason) {
  const absl::Status status =
      Shell("echo one; echo '  two ' >&2; echo; exit 3");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Why(status), HasSubstr("two"));
  EXPECT_THAT(Why(status), HasSubstr("(exit code 3)"));
  EXPECT_THAT(Why(status), Not(HasSubstr("one")));
}

TEST(ShellCommand, SilentOnesAreKnownByTheirEnd) {
  EXPECT_EQ(Why(Shell("exit 4")), "exit code 4");
  EXPECT_EQ(Why(Shell("kill -TERM $$")), "killed by SIGTERM");
}

TEST(ShellCommand, GetsVariables) {
  EXPECT_TRUE(RunShellCommand({.command = "test \"$MUSTER_X\" = 'a b'",
                               .environment = {"MUSTER_X=a b"}})
                  .ok());
}

TEST(ShellCommand, IsKilledWhenItsTimeIsOver) {
  const absl::Status status =
      RunShellCommand({.command = "tail -f /dev/null & tail -f /dev/null; wait",
                       .timeout = milliseconds(300)});
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Why(status), HasSubstr("did not end within 0.3 s"));
}

TEST(ShellCommand, CanBeCancelled) {
  const OwnedFd cancel(eventfd(1, EFD_CLOEXEC));
  const absl::Status status = RunShellCommand(
      {.command = "exec tail -f /dev/null", .cancel_fd = cancel.get()});
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
}

// Killing this process closes its end of the pipe.
TEST(ShellCommand, DiesWithThisProcess) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const OwnedFd read_end(ends[0]);
  OwnedFd write_end(ends[1]);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // The command holds the pipe open while it lives.
    [[maybe_unused]] const absl::Status status =
        Shell("echo up >&" + std::to_string(write_end.get()) +
              "; tail -f /dev/null & exec tail -f /dev/null");
    _exit(1);
  }
  write_end.Close();
  char bytes[8];
  ASSERT_EQ(read(read_end.get(), bytes, sizeof(bytes)), 3);  // "up\n"
  ASSERT_EQ(kill(child, SIGKILL), 0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  // End of file comes when the last holder is dead.
  EXPECT_EQ(read(read_end.get(), bytes, sizeof(bytes)), 0);
}

}  // namespace
}  // namespace muster::agent
