#include "agent/stacks/kernel_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(KernelStacks, SayWhereAThreadWaits) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  // Waits until the child is blocked in its system call.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::string text;
  do {
    text = KernelStacks(child);
  } while (text.find("sleeping") == std::string::npos &&
           std::chrono::steady_clock::now() < end);
  EXPECT_THAT(text, StartsWith(absl::StrCat("thread ", child, " (")));
  EXPECT_THAT(text, HasSubstr("sleeping"));
  // The system call is shown only if this process may trace the child.
  if (text.find(", in ") != std::string::npos) {
    // the child calls pause, or ppoll in a newer C library
    EXPECT_THAT(text, HasSubstr(", in p"));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(KernelStacks(child), "");
}

TEST(KernelStacks, UnknownProcessHasNoStacks) {
  EXPECT_EQ(KernelStacks(-1), "");
}

TEST(WorkerStateReader, FindsTheLetterBehindAnyName) {
  EXPECT_EQ(StateLetter("42 (train) S 1 42"), 'S');
  EXPECT_EQ(StateLetter("42 (a) T (b) D 1 42"), 'D');
  EXPECT_EQ(StateLetter("42 (cut"), '?');
  EXPECT_EQ(StateLetter("42 (cut) "), '?');
  EXPECT_EQ(StateLetter(""), '?');
}

TEST(WorkerStateReader, StoppedAndEndedProcessesAreRecognised) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (;;) pause();
  }
  EXPECT_EQ(ReadWorkerState(child), WorkerState::kOther);
  int status = 0;
  ASSERT_EQ(kill(child, SIGSTOP), 0);
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  EXPECT_EQ(ReadWorkerState(child), WorkerState::kStopped);
  ASSERT_EQ(kill(child, SIGCONT), 0);
  ASSERT_EQ(waitpid(child, &status, WCONTINUED), child);
  EXPECT_EQ(ReadWorkerState(child), WorkerState::kOther);
  ASSERT_EQ(kill(child, SIGKILL), 0);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, child, &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(ReadWorkerState(child), WorkerState::kEnded);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(ReadWorkerState(child), WorkerState::kEnded);
}

}  // namespace
}  // namespace muster::agent
