#include "launcher/ssh/piped_process.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

namespace muster::launcher {
namespace {

std::string ReadAll(const OwnedFd& fd) {
  std::string text;
  char buffer[256];
  for (;;) {
    pollfd wait = {.fd = fd.get(), .events = POLLIN, .revents = 0};
    if (poll(&wait, 1, 60'000) <= 0) return text + " (nothing more came)";
    const ssize_t got = read(fd.get(), buffer, sizeof buffer);
    if (got <= 0) return text;
    text.append(buffer, static_cast<size_t>(got));
  }
}

int WaitForEnd(PipedProcess& process) {
  pollfd wait = {.fd = process.end_fd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&wait, 1, 60'000), 1);
  return process.ExitCode().value_or(-1);
}

PipedProcessPlan Shell(const std::string& script) {
  PipedProcessPlan plan;
  plan.argv = {"/bin/sh", "-c", script};
  plan.environment = {"PATH=/usr/bin:/bin", "A=b c"};
  return plan;
}

TEST(PipedProcess, HasPipesWorkingDirectoryAndEnvironment) {
  PipedProcessPlan plan = Shell(
      "read x; echo \"$x $A $PWD\"; echo e >&2; echo 3 >&3; echo 4 >&4; exit "
      "5");
  plan.working_directory = "/usr";
  plan.extra_pipes = 2;
  auto process = PipedProcess::Start(plan);
  ASSERT_TRUE(process.ok()) << process.status();
  ASSERT_EQ(write(process->standard_input.get(), "in\n", 3), 3);
  EXPECT_EQ(ReadAll(process->standard_output), "in b c /usr\n");
  EXPECT_EQ(ReadAll(process->standard_error), "e\n");
  EXPECT_EQ(ReadAll(process->extra[0]), "3\n");
  EXPECT_EQ(ReadAll(process->extra[1]), "4\n");
  EXPECT_EQ(WaitForEnd(*process), 5);
}

TEST(PipedProcess, LeavesNoOtherDescriptorOpen) {
  auto process = PipedProcess::Start(Shell("exec ls /proc/self/fd"));
  ASSERT_TRUE(process.ok());
  // The child must have no open descriptors but 0, 1 and 2. `ls` lists
  // descriptor 3 as well, with which it reads the folder /proc/self/fd.
  EXPECT_EQ(ReadAll(process->standard_output), "0\n1\n2\n3\n");
  EXPECT_EQ(WaitForEnd(*process), 0);
}

TEST(PipedProcess, StartsWithDefaultSignalHandling) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  signal(SIGPIPE, SIG_IGN);
  auto process = PipedProcess::Start(Shell("kill -TERM $$; echo survived"));
  sigprocmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(WaitForEnd(*process), 128 + SIGTERM);
}

TEST(PipedProcess, AFailedStartNamesTheProgram) {
  PipedProcessPlan plan = Shell("");
  plan.argv = {"/no/such/program"};
  EXPECT_TRUE(absl::IsNotFound(PipedProcess::Start(plan).status()));
  plan.argv = {"/usr"};
  EXPECT_TRUE(absl::IsPermissionDenied(PipedProcess::Start(plan).status()));
  plan = Shell("");
  plan.working_directory = "/no/such/folder";
  EXPECT_EQ(PipedProcess::Start(plan).status().message(),
            "/no/such/folder: No such file or directory");
}

TEST(PipedProcess, TheDestructorKillsTheChild) {
  std::optional<PipedProcess> process;
  {
    auto started = PipedProcess::Start(Shell("exec cat"));
    ASSERT_TRUE(started.ok());
    process.emplace(*std::move(started));
  }
  OwnedFd output = std::move(process->standard_output);
  process.reset();
  EXPECT_EQ(ReadAll(output), "");
}

TEST(PipedProcess, TheDestructorKillsTheChildsGroup) {
  std::optional<PipedProcess> process;
  {
    auto started =
        PipedProcess::Start(Shell("tail -f /dev/null & echo x; wait"));
    ASSERT_TRUE(started.ok());
    process.emplace(*std::move(started));
  }
  // The shell and its child `tail` both have the pipe open. So `output` reaches
  // its end only when both have ended.
  OwnedFd output = std::move(process->standard_output);
  pollfd runs = {.fd = output.get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&runs, 1, 60'000), 1);
  char line[2];
  ASSERT_EQ(read(output.get(), line, sizeof line), 2);
  process.reset();
  EXPECT_EQ(ReadAll(output), "");
}

}  // namespace
}  // namespace muster::launcher
