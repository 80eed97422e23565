#include "agent/commands/tool_run.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/monotonic_clock.h"
#include "base/owned_fd.h"

namespace muster::agent {
namespace {

using End = ToolOutcome::End;
using std::chrono::milliseconds;
using std::chrono::seconds;

class ToolRunTest : public ::testing::Test {
 protected:
  ToolOutcome Run(const std::vector<std::string>& argv,
                  Duration timeout = seconds(60), size_t most = 10'000) {
    return RunTool({.argv = argv,
                    .deadline = MonotonicNow() + timeout,
                    .cancel_fd = cancel_.get(),
                    .max_bytes = most});
  }
  ToolOutcome Shell(const std::string& script, Duration timeout = seconds(60),
                    size_t most = 10'000) {
    return Run({"sh", "-c", script}, timeout, most);
  }

  OwnedFd cancel_{eventfd(0, EFD_CLOEXEC)};
};

TEST_F(ToolRunTest, GivesWhatItSaidOnBothStreams) {
  const ToolOutcome outcome = Shell("echo out; echo err >&2");
  EXPECT_EQ(outcome.end, End::kSucceeded);
  EXPECT_EQ(outcome.output, "out\nerr\n");
}

TEST_F(ToolRunTest, NothingComesFromStdin) {
  EXPECT_EQ(Shell("cat").end, End::kSucceeded);
}

TEST_F(ToolRunTest, AFailureIsOne) {
  const ToolOutcome outcome = Shell("echo no; exit 3");
  EXPECT_EQ(outcome.end, End::kFailed);
  EXPECT_EQ(outcome.output, "no\n");
}

TEST_F(ToolRunTest, MissingProgramIsNotStarted) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "under ThreadSanitizer it is a program that ends with 127";
#endif
  EXPECT_EQ(Run({"no-such-tool-anywhere"}).end, End::kNotStarted);
}

TEST_F(ToolRunTest, TheDeadlineCutsItOff) {
  const ToolOutcome outcome =
      Shell("echo begun; exec tail -f /dev/null", milliseconds(200));
  EXPECT_EQ(outcome.end, End::kCutOff);
  EXPECT_THAT(outcome.output, ::testing::AnyOf("begun\n", ""));
}

TEST_F(ToolRunTest, ChildrenAreKilledWithTheTool) {
  const ToolOutcome outcome = Shell(
      "tail -f /dev/null & echo $!; exec tail -f /dev/null", seconds(60), 1);
  EXPECT_EQ(outcome.end, End::kCutOff);
  // The output of the first tool was cut after one byte, so the process id of
  // its child is unknown. Therefore the rest of the test uses another tool: it
  // starts a child in the background and prints the child's process id.
  const ToolOutcome whole =
      Shell("tail -f /dev/null >/dev/null 2>&1 & echo $!", seconds(60));
  const pid_t child = std::atoi(whole.output.c_str());
  ASSERT_GT(child, 0);
  // RunTool kills all processes of a tool when the tool ends, so `child` is
  // dead. Waits until it is a zombie, or has been reaped by the process that
  // adopts orphans.
  while (kill(child, 0) == 0) {
    ASSERT_EQ(whole.end, End::kSucceeded);
    const ToolOutcome state =
        Shell("sed 's/.*) //' /proc/" + std::to_string(child) + "/stat");
    if (state.output.empty() || state.output[0] == 'Z') break;
  }
}

TEST_F(ToolRunTest, TooLongAnAnswerIsCutOff) {
  const ToolOutcome outcome = Run({"yes"}, seconds(60), 1000);
  EXPECT_EQ(outcome.end, End::kCutOff);
  EXPECT_EQ(outcome.output.size(), 1000u);
}

TEST_F(ToolRunTest, OrItsLastWordsAreKept) {
  const ToolOutcome outcome =
      RunTool({.argv = {"sh", "-c", "seq 1 100000; echo last"},
               .deadline = MonotonicNow() + seconds(60),
               .max_bytes = 5,
               .excess = ToolRequest::Excess::kForget});
  EXPECT_EQ(outcome.end, End::kSucceeded);
  EXPECT_EQ(outcome.output, "last\n");
}

TEST_F(ToolRunTest, VariablesReplaceThoseOfTheSameName) {
  setenv("MUSTER_TOOL_RUN", "old", 1);
  const ToolOutcome outcome =
      RunTool({.argv = {"sh", "-c", "env | grep MUSTER_TOOL_RUN"},
               .environment = {"MUSTER_TOOL_RUN=new"},
               .deadline = MonotonicNow() + seconds(60)});
  EXPECT_EQ(outcome.output, "MUSTER_TOOL_RUN=new\n");
}

// The deadline of 2 s leaves the tool enough time to close its output first,
// even on a busy machine.
TEST_F(ToolRunTest, ToolThatClosesItsOutputAndHangsIsCutOffAtTheDeadline) {
  const ToolOutcome outcome =
      Shell("exec >/dev/null 2>&1; exec tail -f /dev/null", seconds(2));
  EXPECT_EQ(outcome.end, End::kCutOff);
}

TEST_F(ToolRunTest, ACancelEndsItAtOnce) {
  ASSERT_EQ(eventfd_write(cancel_.get(), 1), 0);
  EXPECT_EQ(Shell("exec tail -f /dev/null", std::chrono::hours(1)).end,
            End::kCutOff);
}

TEST_F(ToolRunTest, SignalDispositionsAreDefault) {
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, &before);
  // The shell sends SIGTERM to itself. The signal must kill it before the echo,
  // although this process blocks SIGTERM: RunTool resets the tool's signal
  // mask.
  const ToolOutcome outcome = Shell("kill -TERM $$; echo survived");
  sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(outcome.end, End::kFailed);
  EXPECT_EQ(outcome.output, "");
}

TEST_F(ToolRunTest, BlockedSignalIsNotDelivered) {
  ToolRequest request;
  request.argv = {"/bin/sh", "-c",
                  "kill -USR1 $$; kill -TERM $$; echo survived; kill -USR2 $$"};
  request.deadline = MonotonicNow() + std::chrono::hours(1);
  request.blocked_signals = {SIGUSR1, SIGTERM};
  const ToolOutcome outcome = RunTool(request);
  EXPECT_EQ(outcome.end, End::kFailed);
  EXPECT_EQ(outcome.output, "survived\n");
}

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

TEST(ShellCommand, LastLineIsTheReason) {
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

TEST(ShellCommand, IsKilledAtItsDeadlineAfterItClosedItsOutput) {
  const absl::Status status = RunShellCommand(
      {.command = "exec >/dev/null 2>&1; exec tail -f /dev/null",
       .timeout = seconds(2)});
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
}

// The command closes its output and then makes `cancel_fd` readable. This must
// cancel the command.
TEST(ShellCommand, CanBeCancelledAfterItClosedItsOutput) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const OwnedFd cancel(ends[0]);
  const OwnedFd trigger(ends[1]);
  const absl::Status status = RunShellCommand(
      {.command = "exec >/dev/null 2>&1; echo >&" +
                  std::to_string(trigger.get()) + "; exec tail -f /dev/null",
       .cancel_fd = cancel.get()});
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
}

TEST(ShellCommand, CanBeCancelled) {
  const OwnedFd cancel(eventfd(1, EFD_CLOEXEC));
  const absl::Status status = RunShellCommand(
      {.command = "exec tail -f /dev/null", .cancel_fd = cancel.get()});
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
}

// The command and its children are killed when the process that started the
// command is killed.
TEST(ShellCommand, DiesWithThisProcess) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const OwnedFd read_end(ends[0]);
  OwnedFd write_end(ends[1]);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // The command and its child inherit the write end of the pipe, and keep it
    // open as long as they live.
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
  // End of file shows that no process that held the write end is alive.
  EXPECT_EQ(read(read_end.get(), bytes, sizeof(bytes)), 0);
}

}  // namespace
}  // namespace muster::agent
