#include "agent/stacks/worker_state_reader.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace muster::agent {
namespace {

TEST(WorkerStateReader, FindsTheLetterBehindAnyName) {
  EXPECT_EQ(StateLetter("42 (train) S 1 42"), 'S');
  EXPECT_EQ(StateLetter("42 (a) T (b) D 1 42"), 'D');
  EXPECT_EQ(StateLetter("42 (cut"), '?');
  EXPECT_EQ(StateLetter("42 (cut) "), '?');
  EXPECT_EQ(StateLetter(""), '?');
}

TEST(WorkerStateReader, TellsAProcessThatIsStoppedOrHasEnded) {
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
